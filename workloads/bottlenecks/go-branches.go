// Waits for the right instructions: tokens of random kinds are told apart by a chain of conditions. More of them than a
// predictor learns.
package main

var (
	tokens []byte
	tally  [4]uint64
)

//go:noinline
func classify(text []byte, into *[4]uint64) {
	for _, c := range text {
		if c < 64 {
			into[0] += uint64(c)
		} else if c&1 == 0 {
			into[1] ^= uint64(c)
		} else if c&2 == 0 {
			into[2]++
		} else {
			into[3] -= uint64(c)
		}
	}
}

func main() {
	bench{"classify a token", "seed", 77, 256 << 10, func(size uint64) {
		tokens = make([]byte, 256<<10)
		state := size
		for i := range tokens {
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
			tokens[i] = byte(state >> 32)
		}
	}, func(count uint64) uint64 {
		classify(tokens[:count], &tally)
		return tally[0]
	}}.run()
}
