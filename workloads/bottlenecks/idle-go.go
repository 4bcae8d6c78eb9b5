// Innocent: a goroutine sleeps until a ticker wakes it, each millisecond. Nothing must be named.
package main

import "time"

var ticker *time.Ticker

//go:noinline
func tick(count uint64) (last uint64) {
	for ; count > 0; count-- {
		last = uint64((<-ticker.C).UnixNano())
	}
	return last
}

func main() {
	bench{"wait for the ticker", "tickers", 1, 1, func(uint64) {
		ticker = time.NewTicker(time.Millisecond)
	}, tick}.run()
}
