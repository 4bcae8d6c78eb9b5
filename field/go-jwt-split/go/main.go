package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	key := []byte("0123456789abcdef0123456789abcdef")
	good, _ := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject: "somebody", ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour)),
	}).SignedString(key)
	// The authorization of a client that sends what a server takes by default at most.
	bad := strings.Repeat(".", 1000000)
	accepted, refused := 0, 0
	for i := 0; i < count; i++ {
		token := good
		if i%1000 == 0 {
			token = bad
		}
		if _, err := jwt.ParseWithClaims(token, &jwt.RegisteredClaims{}, func(*jwt.Token) (any, error) { return key, nil }); err != nil {
			refused++
		} else {
			accepted++
		}
	}
	fmt.Println(accepted, "accepted", refused, "refused")
}
