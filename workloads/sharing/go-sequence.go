// True sharing in Go: all goroutines draw numbers from one sequence. Mended, each draws 100 at a time.
package main

import (
	"sync/atomic"
	"unsafe"
)

var sequence struct {
	_    [128]byte
	last atomic.Uint64
	_    [128]byte
}

//go:noinline
func draw(count uint64) uint64 {
	return sequence.last.Add(count)
}

func main() {
	run := begin(2)
	batch := 1
	if mended {
		batch = 100
	} else {
		for i := 0; i < run.threads; i++ {
			writes(i, unsafe.Pointer(&sequence.last), "sequence.last")
		}
	}
	run.all(func(int) func() {
		value := uint64(1)
		return func() {
			for i := 0; i < round; i += batch {
				number := draw(uint64(batch))
				for j := 0; j < batch; j++ {
					value = work(value^(number+uint64(j)), 10)
				}
			}
		}
	})
}
