// Waits for loads: nodes, linked in an order that no prefetcher guesses, are walked in a circle.
package main

type node struct {
	next *node
	name [56]byte
}

var (
	nodes []node
	at    *node
)

//go:noinline
func walk(from *node, steps uint64) *node {
	for ; steps > 0; steps-- {
		from = from.next
	}
	return from
}

func main() {
	bench{"go to the next node", "bytes", 128 << 20, 200000, func(size uint64) {
		nodes = make([]node, 1)
		for uint64(len(nodes))*128 <= size {
			nodes = make([]node, len(nodes)*2)
		}
		last := uint64(len(nodes) - 1)
		for i := range nodes {
			nodes[i].next = &nodes[(uint64(i)*6364136223846793005+1442695040888963407)&last]
		}
		at = &nodes[0]
	}, func(steps uint64) uint64 {
		at = walk(at, steps)
		return uint64(at.name[0])
	}}.run()
}
