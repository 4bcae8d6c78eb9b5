// False sharing in Go: each goroutine counts in its own element of a slice.
package main

import (
	"sync/atomic"
	"unsafe"
)

type shard struct {
	_    [gap]byte
	hits atomic.Int64
}

//go:noinline
func hit(of *shard, times int) {
	for i := 0; i < times; i++ {
		of.hits.Add(1)
	}
}

func main() {
	run := begin(2)
	shards := make([]shard, run.threads)
	for i := range shards {
		writes(i, unsafe.Pointer(&shards[i].hits), "shard.hits")
	}
	run.all(func(index int) func() {
		of := &shards[index]
		return func() { hit(of, round) }
	})
}
