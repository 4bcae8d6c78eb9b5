// Innocent: goroutines hand each other a batch over a channel once in many operations, and compute in between. Nothing must be found.
package main

var results = make(chan uint64, 16)

//go:noinline
func compute(value uint64) uint64 {
	for i := 0; i < round; i++ {
		value = work(value, 20)
	}
	return value
}

func main() {
	run := begin(2)
	go func() {
		for range results {
		}
	}()
	run.all(func(index int) func() {
		value, calls := uint64(index), 0
		return func() {
			value = compute(value)
			if calls++; calls%50 == 0 {
				results <- value
			}
		}
	})
}
