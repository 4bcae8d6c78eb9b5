// Decodes orders from JSON; slow also checks each against a signature, a step that was added later.
package main

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"faults/common/frame"
)

type order struct {
	ID    int
	Items []struct {
		Name  string
		Price float64
	}
}

//go:noinline
func verifySignature(text []byte) bool {
	var sum []byte
	for i := 0; i < 12; i++ {
		mac := hmac.New(sha512.New, []byte("a key that is not a secret"))
		mac.Write(text)
		sum = mac.Sum(nil)
	}
	return len(sum) == sha512.Size
}

//go:noinline
func decode(text []byte) (parsed order) {
	if err := json.Unmarshal(text, &parsed); err != nil {
		panic(err)
	}
	return parsed
}

func main() {
	frame.Begin()
	text := []byte(`{"ID": 17, "Items": [{"Name": "spoon", "Price": 1.5}, {"Name": "plate", "Price": 12}, {"Name": "cup", "Price": 4.25}]}`)
	var checking atomic.Int64
	frame.Run(2, func(int) {
		decode(text)
		if frame.Slow {
			from := time.Now()
			verifySignature(text)
			checking.Add(int64(time.Since(from)))
		}
	})
	fmt.Printf("truth: seconds checking signatures %.3f\n", time.Duration(checking.Load()).Seconds())
	frame.LostShare(1)
}
