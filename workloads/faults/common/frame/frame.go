// Package frame is what the Go programs share: the command line, goroutines that count operations, progress, truths.
package frame

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Slow is the variant; Stopped says that the time is up.
var (
	Slow    bool
	Stopped atomic.Bool
	Done    atomic.Int64
	seconds = 10.0
)

// Begin reads the command line.
func Begin() {
	known := len(os.Args) >= 2 && (os.Args[1] == "slow" || os.Args[1] == "fast")
	if known && len(os.Args) == 4 && os.Args[2] == "--seconds" {
		var err error
		seconds, err = strconv.ParseFloat(os.Args[3], 64)
		known = err == nil
	} else if len(os.Args) > 2 {
		known = false
	}
	if !known {
		if len(os.Args) > 1 && (os.Args[1] == "--help" || os.Args[1] == "-h") {
			fmt.Fprintf(os.Stdout, "usage: %s slow|fast [--seconds S]\n", os.Args[0])
			os.Exit(0)
		}
		fmt.Fprintf(os.Stderr, "usage: %s slow|fast [--seconds S]\n", os.Args[0])
		os.Exit(2)
	}
	Slow = os.Args[1] == "slow"
}

// Words is for programs with words of their own: count of them, no more and no less. Otherwise, and for --help, it prints the usage and exits.
func Words(count int, usage string) {
	if len(os.Args) > 1 && (os.Args[1] == "--help" || os.Args[1] == "-h") {
		fmt.Printf("usage: %s %s\n", os.Args[0], usage)
		os.Exit(0)
	}
	if len(os.Args) != count+1 {
		fmt.Fprintf(os.Stderr, "usage: %s %s\n", os.Args[0], usage)
		os.Exit(2)
	}
}

// Run does operations in count goroutines until the time is up, and prints the progress.
func Run(count int, operation func(worker int)) {
	started := time.Now()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	end := time.After(time.Duration(seconds * float64(time.Second)))
	var workers sync.WaitGroup
	for worker := 0; worker < count; worker++ {
		worker := worker
		workers.Add(1)
		go func() {
			defer workers.Done()
			for !Stopped.Load() {
				operation(worker)
				Done.Add(1)
			}
		}()
	}
	ticks := time.NewTicker(time.Second)
	for running := true; running; {
		select {
		case <-ticks.C:
			fmt.Printf("done %d\n", Done.Load())
		case <-end:
			running = false
		case <-signals:
			running = false
		}
	}
	Stopped.Store(true)
	workers.Wait()
	fmt.Printf("done %d\noperations: %d\ntruth: wall seconds %.3f\n", Done.Load(), Done.Load(), time.Since(started).Seconds())
}

// LostShare prints the part of the slow-down that the fault itself makes; 0 in the fast variant.
func LostShare(share float64) {
	if !Slow {
		share = 0
	}
	fmt.Printf("truth: lost share %.3f\n", share)
}
