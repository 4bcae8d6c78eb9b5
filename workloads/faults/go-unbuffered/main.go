// Writes a table of measurements field by field, straight to the file, against through a buffer.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"faults/common/frame"
)

func main() {
	frame.Begin()
	file, err := os.CreateTemp(os.Getenv("SCRATCH"), "go-unbuffered")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Remove(file.Name())
	var out io.Writer = file
	buffer := bufio.NewWriterSize(file, 64<<10)
	if !frame.Slow {
		out = buffer
	}
	row := uint64(0)
	frame.Run(1, func(int) {
		row++
		for field := uint64(0); field < 12; field++ {
			fmt.Fprintf(out, "%d\t", row*field%997)
		}
		fmt.Fprintln(out)
		if row%100000 == 0 {
			buffer.Flush()
			file.Seek(0, io.SeekStart)
		}
	})
	buffer.Flush()
	fmt.Println("truth: rows", row)
	frame.LostShare(1)
}
