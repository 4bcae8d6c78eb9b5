// Package pace is what the Go programs that model a service share: the command line, the time limit, `done N` ten times a
// second, the totals at the end. Unlike frame, it leaves it to the program which goroutines it has and what they do.
package pace

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// Slow is the variant, Dir a folder for scratch files.
var (
	Slow bool
	Dir  = "/tmp"

	seconds = 10.0
	started time.Time
	over    atomic.Bool
	done    atomic.Int64
	ended   = make(chan struct{})
)

// Over says whether the run is to end.
func Over() bool { return over.Load() }

// Did counts operations as done.
func Did(count int64) { done.Add(count) }

// Check ends the program when something failed that should not.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Read reads the command line; it exits with 2 and the usage when it is wrong.
func Read() {
	known := len(os.Args) >= 2 && len(os.Args)%2 == 0 && (os.Args[1] == "slow" || os.Args[1] == "fast")
	for i := 2; known && i+1 < len(os.Args); i += 2 {
		switch os.Args[i] {
		case "--seconds":
			var err error
			seconds, err = strconv.ParseFloat(os.Args[i+1], 64)
			known = err == nil && seconds > 0
		case "--dir":
			Dir = os.Args[i+1]
		default:
			known = false
		}
	}
	if !known {
		if len(os.Args) > 1 && (os.Args[1] == "--help" || os.Args[1] == "-h") {
			fmt.Fprintf(os.Stdout, "usage: %s slow|fast [--seconds S] [--dir FOLDER]\n", os.Args[0])
			os.Exit(0)
		}
		fmt.Fprintf(os.Stderr, "usage: %s slow|fast [--seconds S] [--dir FOLDER]\n", os.Args[0])
		os.Exit(2)
	}
	Slow = os.Args[1] == "slow"
}

// Start starts the clock and the progress lines. What is prepared before it is no part of the measured time.
func Start() {
	started = time.Now()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		end := time.After(time.Duration(seconds * float64(time.Second)))
		tenths := time.NewTicker(100 * time.Millisecond)
		for !Over() {
			select {
			case <-tenths.C:
				fmt.Printf("done %d\n", done.Load())
			case <-end:
				over.Store(true)
			case <-signals:
				over.Store(true)
			}
		}
		close(ended)
	}()
}

// Finish ends the progress lines and prints the totals; to be called when all workers have ended. share is the part of the
// slow-down that the fault makes.
func Finish(share float64) {
	over.Store(true)
	<-ended
	if !Slow {
		share = 0
	}
	fmt.Printf("done %d\noperations: %d\n", done.Load(), done.Load())
	fmt.Printf("truth: wall seconds %.3f\ntruth: lost share %.3f\n", time.Since(started).Seconds(), share)
}
