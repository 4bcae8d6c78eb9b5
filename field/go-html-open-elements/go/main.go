package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// Comments of a forum: some answer each other, each in the block of the one before.
func page(depth int) string {
	var b strings.Builder
	for i := 0; i < depth; i++ {
		fmt.Fprintf(&b, "<div><p>answer %d <b>bold</b>", i)
	}
	return b.String()
}

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	flat := strings.Repeat("<div class=post><p>text <a href=/user/1>somebody</a> <b>bold</b></p></div>\n", 3000)
	deep := page(3000)
	parsed, refused := 0, 0
	for i := 0; i < count; i++ {
		for _, text := range []string{flat, flat, deep} {
			if _, err := html.Parse(strings.NewReader(text)); err != nil {
				refused++
			} else {
				parsed++
			}
		}
	}
	fmt.Println(parsed, "parsed", refused, "refused")
}
