// Waits for atomic additions that nobody else contends for.
package main

import "sync/atomic"

var metrics struct{ requests atomic.Uint64 }

//go:noinline
func observe(count uint64) {
	for i := uint64(0); i < count; i++ {
		metrics.requests.Add(1)
	}
}

func main() {
	bench{"count a request", "counters", 1, 10000000, nil, func(count uint64) uint64 {
		observe(count)
		return metrics.requests.Load()
	}}.run()
}
