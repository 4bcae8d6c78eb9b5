// Packs and unpacks the same text several times.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"

	"github.com/klauspost/compress/zstd"
)

var release = "unknown"

func main() {
	passes, _ := strconv.Atoi(os.Args[1])
	numbers := rand.New(rand.NewSource(1))
	var text []byte
	for len(text) < 8_000_000 {
		text = fmt.Appendf(text, "order %d of customer %d: %d items\n", numbers.Intn(1e6), numbers.Intn(1e4), numbers.Intn(9))
	}
	encoder, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	decoder, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	total := 0
	for pass := 0; pass < passes; pass++ {
		packed := encoder.EncodeAll(text, nil)
		unpacked, err := decoder.DecodeAll(packed, nil)
		if err != nil {
			panic(err)
		}
		total += len(packed) + len(unpacked)
	}
	fmt.Println(release, total)
}
