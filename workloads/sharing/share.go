// The frame of the Go programs whose goroutines share cache lines; the same as share.h. It is built with share_slow.go, or with
// share_mended.go for the mended twin.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Operations between two looks at the clock.
const round = 1000

type share struct {
	seconds float64
	threads int
}

// Reads the command line: [SECONDS] [THREADS].
func begin(threads int) share {
	run := share{2, threads}
	var wrong, alsoWrong error
	if len(os.Args) > 1 {
		run.seconds, wrong = strconv.ParseFloat(os.Args[1], 64)
	}
	if len(os.Args) > 2 {
		run.threads, alsoWrong = strconv.Atoi(os.Args[2])
	}
	if wrong != nil || alsoWrong != nil || !(run.seconds > 0) || run.threads < 1 || len(os.Args) > 3 {
		if len(os.Args) > 1 && (os.Args[1] == "--help" || os.Args[1] == "-h") {
			fmt.Fprintln(os.Stdout, "usage: [SECONDS] [THREADS]")
			os.Exit(0)
		}
		fmt.Fprintln(os.Stderr, "usage: [SECONDS] [THREADS]")
		os.Exit(2)
	}
	fmt.Printf("truth: threads %d\n", run.threads)
	return run
}

// Says that a thread writes (and may read) a word again and again.
func writes(thread int, of unsafe.Pointer, name string) {
	fmt.Printf("truth: writes %d %p %s\n", thread, of, name)
}

// Says that a thread reads a word again and again, and never writes it.
func reads(thread int, of unsafe.Pointer, name string) {
	fmt.Printf("truth: reads %d %p %s\n", thread, of, name)
}

// Binds this goroutine's thread to one of the first 64 CPUs that it may use; the next one gets the next.
func bind(index int) {
	runtime.LockOSThread()
	may := make([]uint64, 128)
	if _, _, err := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, 1024, uintptr(unsafe.Pointer(&may[0]))); err != 0 {
		return // where they run is left to the kernel
	}
	var cpus []int
	for cpu := 0; cpu < 64; cpu++ {
		if may[0]>>cpu&1 == 1 {
			cpus = append(cpus, cpu)
		}
	}
	if len(cpus) > 0 {
		only := uint64(1) << cpus[index%len(cpus)]
		syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, 8, uintptr(unsafe.Pointer(&only)))
	}
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) * 1e-9
}

// Calls the body of each goroutine until the time is up; a call does `round` operations.
func (run share) all(body func(index int) func()) {
	type own struct {
		_    [256]byte
		done atomic.Uint64
		_    [256]byte
	}
	var stopped struct {
		_ [256]byte
		atomic.Bool
		_ [256]byte
	}
	dones := make([]own, run.threads)
	total := func() (sum uint64) {
		for i := range dones {
			sum += dones[i].done.Load()
		}
		return sum
	}
	var group sync.WaitGroup
	started, cpu := time.Now(), cpuSeconds()
	for i := range dones {
		group.Add(1)
		go func() {
			defer group.Done()
			bind(i)
			call, done := body(i), &dones[i].done
			for !stopped.Load() {
				call()
				done.Store(done.Load() + round)
			}
		}()
	}
	for {
		left := run.seconds - time.Since(started).Seconds()
		if left <= 0 {
			break
		}
		time.Sleep(time.Duration(min(left, 0.25) * 1e9))
		fmt.Printf("done %d\n", total())
	}
	stopped.Store(true)
	group.Wait()
	cpu = cpuSeconds() - cpu
	fmt.Printf("done %d\noperations: %d\n", total(), total())
	fmt.Printf("truth: wall seconds %.4f\ntruth: cpu seconds %.4f\n", time.Since(started).Seconds(), cpu)
	fmt.Printf("truth: cpu ns per operation %.4f\n", cpu*1e9/float64(max(total(), 1)))
}

// Work of about a nanosecond a step that shares nothing.
func work(value uint64, steps int) uint64 {
	for ; steps > 0; steps-- {
		value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9
	}
	return value
}
