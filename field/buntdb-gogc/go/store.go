package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/tidwall/buntdb"
)

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	db, err := buntdb.Open(":memory:")
	if err != nil {
		panic(err)
	}
	const keys = 200000
	set := func(n int) {
		err := db.Update(func(tx *buntdb.Tx) error {
			for i := n; i < n+100; i++ {
				key := "user:" + strconv.Itoa(i*7919%keys)
				value := `{"name":"user ` + strconv.Itoa(i) + `","visits":` + strconv.Itoa(i%1000) + `}`
				if _, _, err := tx.Set(key, value, nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			panic(err)
		}
	}
	for n := 0; n < keys; n += 100 {
		set(n)
	}
	begin := time.Now()
	said := begin
	done := 0
	for time.Since(begin) < time.Duration(seconds)*time.Second {
		set(done)
		done += 100
		if time.Since(said) > time.Second/2 {
			said = time.Now()
			fmt.Println("done", done)
		}
	}
	fmt.Println("done", done)
}
