// Handlers that render a page while they hold the mutex of the session table, against before they take it.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"faults/common/frame"
)

type table struct {
	sync.Mutex
	pages map[uint64][32]byte
}

//go:noinline
func render(id uint64) [32]byte {
	var text [4096]byte
	binary.LittleEndian.PutUint64(text[:], id)
	sum := sha256.Sum256(text[:])
	for i := 0; i < 8; i++ {
		copy(text[i*32:], sum[:])
		sum = sha256.Sum256(text[:])
	}
	return sum
}

func main() {
	frame.Begin()
	sessions := table{pages: map[uint64][32]byte{}}
	var ids atomic.Uint64
	var waited atomic.Int64
	frame.Run(8, func(int) {
		id := ids.Add(1)
		var page [32]byte
		if !frame.Slow {
			page = render(id)
		}
		from := time.Now()
		sessions.Lock()
		waited.Add(int64(time.Since(from)))
		if frame.Slow {
			page = render(id)
		}
		sessions.pages[id%4096] = page
		sessions.Unlock()
	})
	fmt.Printf("truth: goroutine seconds waiting for the mutex %.3f\n", time.Duration(waited.Load()).Seconds())
	frame.LostShare(1)
}
