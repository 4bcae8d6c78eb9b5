// The frame of the Go programs with one known bottleneck; the same as bench.h.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type bench struct {
	operation, unit string
	size, perCall   uint64
	prepare         func(size uint64)
	call            func(operations uint64) uint64
}

var benchSink uint64

// CPU time of this thread in seconds.
func cpuSeconds() float64 {
	const threadOnly = 1 // RUSAGE_THREAD
	var usage syscall.Rusage
	syscall.Getrusage(threadOnly, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) * 1e-9
}

// A count as 4096 or 16M.
func count(word string) (uint64, error) {
	digits := strings.TrimRight(word, "KMG")
	shift := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30}[word[len(digits):]]
	number, err := strconv.ParseUint(digits, 10, 64)
	if number == 0 || len(word) > len(digits)+1 {
		err = strconv.ErrSyntax
	}
	return number << shift, err
}

func (b bench) run() {
	seconds, size := 2.0, b.size
	var wrong, alsoWrong error
	if len(os.Args) > 1 {
		seconds, wrong = strconv.ParseFloat(os.Args[1], 64)
	}
	if len(os.Args) > 2 {
		size, alsoWrong = count(os.Args[2])
	}
	if wrong != nil || alsoWrong != nil || !(seconds > 0) || len(os.Args) > 3 {
		if len(os.Args) > 1 && (os.Args[1] == "--help" || os.Args[1] == "-h") {
			fmt.Fprintln(os.Stdout, "usage: [SECONDS] [SIZE]")
			os.Exit(0)
		}
		fmt.Fprintln(os.Stderr, "usage: [SECONDS] [SIZE]")
		os.Exit(2)
	}
	runtime.LockOSThread()
	preparing := time.Now()
	if b.prepare != nil {
		b.prepare(size)
	}
	fmt.Printf("truth: operation %s\ntruth: size %d %s\ntruth: operations per call %d\n", b.operation, size, b.unit, b.perCall)
	fmt.Printf("truth: seconds preparing %.4f\n", time.Since(preparing).Seconds())
	started, cpu, calls := time.Now(), cpuSeconds(), uint64(0)
	for next := 0.25; ; {
		benchSink += b.call(b.perCall)
		calls++
		now := time.Since(started).Seconds()
		if now >= seconds {
			break
		}
		if now >= next {
			fmt.Printf("done %d\n", calls*b.perCall)
			next += 0.25
		}
	}
	cpu = cpuSeconds() - cpu
	done := calls * b.perCall
	fmt.Printf("done %d\noperations: %d\n", done, done)
	fmt.Printf("truth: wall seconds %.4f\ntruth: cpu seconds %.4f\n", time.Since(started).Seconds(), cpu)
	fmt.Printf("truth: calls %d\ntruth: ns per call %.3f\n", calls, cpu*1e9/float64(calls))
	fmt.Printf("truth: ns per operation %.4f\n", cpu*1e9/float64(done))
}
