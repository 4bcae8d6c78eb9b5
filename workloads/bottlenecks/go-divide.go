// Waits for integer divisions: hashes are put into buckets by their remainder, and each decides on the next.
package main

var buckets, key uint64

//go:noinline
func bucket(hash, of, steps uint64) uint64 {
	for i := uint64(0); i < steps; i++ {
		hash = (hash%of + i) | 1<<62
	}
	return hash
}

func main() {
	bench{"find a bucket", "buckets", 10007, 10000000, func(size uint64) {
		buckets = size
	}, func(steps uint64) uint64 {
		key = bucket(key, buckets, steps)
		return key
	}}.run()
}
