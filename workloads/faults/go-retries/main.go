// Clients that sleep 1 ms between looks whether their result is there, against ones that wait at a channel.
package main

import (
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"time"

	"faults/common/frame"
)

type request struct {
	id     uint64
	ready  atomic.Bool
	result [32]byte
	done   chan struct{}
}

//go:noinline
func compute(id uint64) (sum [32]byte) {
	text := []byte(fmt.Sprint("request ", id))
	for i := 0; i < 200; i++ {
		sum = sha256.Sum256(text)
		text = sum[:]
	}
	return sum
}

func answer(requests <-chan *request) {
	for r := range requests {
		r.result = compute(r.id)
		if frame.Slow {
			r.ready.Store(true)
		} else {
			r.done <- struct{}{}
		}
	}
}

//go:noinline
func await(r *request) int64 {
	from := time.Now()
	if !frame.Slow {
		<-r.done
		return 0
	}
	for !r.ready.Load() {
		time.Sleep(time.Millisecond)
	}
	return int64(time.Since(from))
}

func main() {
	frame.Begin()
	const clients = 4
	requests := make(chan *request, clients)
	for i := 0; i < 2; i++ {
		go answer(requests)
	}
	var ids atomic.Uint64
	var asleep atomic.Int64
	var done [clients]chan struct{}
	for i := range done {
		done[i] = make(chan struct{}, 1)
	}
	frame.Run(clients, func(worker int) {
		r := &request{id: ids.Add(1), done: done[worker]}
		requests <- r
		asleep.Add(await(r))
	})
	fmt.Printf("truth: goroutine seconds asleep %.3f\n", time.Duration(asleep.Load()).Seconds())
	frame.LostShare(1)
}
