// False sharing of heap objects in Go, with plain loads and stores: small cursors, allocated one after another, each for a goroutine.
package main

import "unsafe"

type cursor struct {
	_        [gap]byte
	step     uint32 // set once
	lines    uint32
	position uint64
	_        [gap]byte
}

//go:noinline
func advance(of *cursor, value uint64) uint64 {
	value = work(value+uint64(of.step), 3)
	of.lines++
	of.position += value
	return value
}

// line is the cache line of a cursor.
func line(of *cursor) uintptr {
	return uintptr(unsafe.Pointer(of)) / 64
}

func main() {
	run := begin(2)
	cursors := make([]*cursor, run.threads)
	for {
		for i := range cursors {
			cursors[i] = &cursor{step: 7}
		}
		// Small objects lie side by side, and two of them in one line or at the end of one and the beginning of the next.
		if mended || run.threads < 2 || line(cursors[0]) == line(cursors[1]) {
			break
		}
	}
	for i := range cursors {
		reads(i, unsafe.Pointer(&cursors[i].step), "cursor.step")
		writes(i, unsafe.Pointer(&cursors[i].lines), "cursor.lines")
		writes(i, unsafe.Pointer(&cursors[i].position), "cursor.position")
	}
	run.all(func(index int) func() {
		of, value := cursors[index], uint64(index)
		return func() {
			for i := 0; i < round; i++ {
				value = advance(of, value)
			}
		}
	})
}
