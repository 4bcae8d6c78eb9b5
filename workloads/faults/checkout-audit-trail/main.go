// A checkout service with an audit trail: each request is written to a collector, another process, through a pipe, before it is
// answered. In the slow variant the collector confirms what it forwards slowly, and the pipe is full most of the time.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"faults/common/pace"
)

// The collector: reads the trail, and forwards it in chunks to a store that takes its time for each.
func collect(pause time.Duration) {
	signal.Ignore(os.Interrupt) // it ends with the service, when its pipe does
	trail := bufio.NewReaderSize(os.Stdin, 16<<10)
	chunk := make([]byte, 16<<10)
	for {
		length, err := io.ReadFull(trail, chunk)
		if length > 0 {
			forward(chunk[:length], pause)
		}
		if err != nil {
			return
		}
	}
}

func forward(chunk []byte, pause time.Duration) [32]byte {
	sum := sha256.Sum256(chunk)
	time.Sleep(pause)
	return sum
}

// The collector of a run, and the end of its pipe that the service writes to.
func startCollector(pause string) (*exec.Cmd, io.WriteCloser) {
	collector := exec.Command(os.Args[0])
	collector.Env = append(os.Environ(), "COLLECTOR_PAUSE="+pause)
	collector.Stderr = os.Stderr
	trail, err := collector.StdinPipe()
	pace.Check(err)
	pace.Check(collector.Start())
	return collector, trail
}

type basket struct {
	number int64
	items  [6]int
}

// Adds up a basket, and signs the receipt.
func checkout(b basket) (total int, receipt string) {
	text := fmt.Sprint("basket ", b.number)
	for _, item := range b.items {
		total += item % 10000
		text += fmt.Sprintf(" item-%d", item)
	}
	sum := sha256.Sum256([]byte(text))
	for i := 0; i < 120; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return total, hex.EncodeToString(sum[:])
}

func main() {
	if pause, ok := os.LookupEnv("COLLECTOR_PAUSE"); ok {
		length, err := time.ParseDuration(pause)
		pace.Check(err)
		collect(length)
		return
	}
	pace.Read()
	pause := "100us"
	if pace.Slow {
		pause = "10ms"
	}
	collector, trail := startCollector(pause)
	var numbers atomic.Int64
	var writing sync.Mutex // lines stay whole
	var written atomic.Int64
	pace.Start()
	var workers sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		worker := worker
		workers.Add(1)
		go func() {
			defer workers.Done()
			for !pace.Over() {
				b := basket{number: numbers.Add(1)}
				for i := range b.items {
					b.items[i] = int(b.number*2654435761) >> (i * 3) & 0xffff
				}
				total, receipt := checkout(b)
				line := fmt.Sprintf("basket=%d total=%d.%02d receipt=%s region=eu-west-1 till=%d\n", b.number, total/100, total%100, receipt, worker)
				writing.Lock()
				_, err := io.WriteString(trail, line)
				writing.Unlock()
				pace.Check(err)
				written.Add(int64(len(line)))
				pace.Did(1)
			}
		}()
	}
	workers.Wait()
	pace.Finish(1)
	fmt.Printf("truth: bytes of trail %d\n", written.Load())
	trail.Close()
	pace.Check(collector.Wait())
}
