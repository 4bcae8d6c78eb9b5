// False sharing in Go: requests that came and answers that went are counted in neighbouring fields of one struct.
package main

import (
	"sync/atomic"
	"unsafe"
)

type stats struct {
	requests atomic.Uint64
	_        [gap]byte
	answers  atomic.Uint64
}

var server stats

//go:noinline
func receive(message uint64) uint64 {
	return server.requests.Add(1) ^ work(message, 15)
}

//go:noinline
func answer(message uint64) uint64 {
	return server.answers.Add(1) ^ work(message, 15)
}

func main() {
	run := begin(2)
	writes(0, unsafe.Pointer(&server.requests), "stats.requests")
	writes(1, unsafe.Pointer(&server.answers), "stats.answers")
	run.threads = min(run.threads, 2)
	run.all(func(index int) func() {
		step, message := receive, uint64(1)
		if index == 1 {
			step = answer
		}
		return func() {
			for i := 0; i < round; i++ {
				message = step(message)
			}
		}
	})
}
