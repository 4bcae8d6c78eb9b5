// Handlers that ask a service over loopback while they hold the mutex of the session table, against before they take it.
package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"faults/common/frame"
)

type table struct {
	sync.Mutex
	pages map[uint64][32]byte
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			lines := bufio.NewScanner(connection)
			for lines.Scan() {
				time.Sleep(500 * time.Microsecond)
				fmt.Fprintf(connection, "%x\n", sha256.Sum256(lines.Bytes()))
			}
		}()
	}
}

//go:noinline
func fetch(connection *bufio.ReadWriter, id uint64) [32]byte {
	fmt.Fprintln(connection, "session", id)
	check(connection.Flush())
	line, err := connection.ReadBytes('\n')
	check(err)
	return sha256.Sum256(line)
}

func main() {
	frame.Begin()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serve(listener)
	const handlers = 6
	var connections [handlers]*bufio.ReadWriter
	for i := range connections {
		connection, err := net.Dial("tcp", listener.Addr().String())
		check(err)
		connections[i] = bufio.NewReadWriter(bufio.NewReader(connection), bufio.NewWriter(connection))
	}
	sessions := table{pages: map[uint64][32]byte{}}
	var ids atomic.Uint64
	var waited atomic.Int64
	frame.Run(handlers, func(worker int) {
		id := ids.Add(1)
		var page [32]byte
		if !frame.Slow {
			page = fetch(connections[worker], id)
		}
		from := time.Now()
		sessions.Lock()
		waited.Add(int64(time.Since(from)))
		if frame.Slow {
			page = fetch(connections[worker], id)
		}
		sessions.pages[id%4096] = page
		sessions.Unlock()
	})
	fmt.Printf("truth: goroutine seconds waiting for the mutex %.3f\n", time.Duration(waited.Load()).Seconds())
	frame.LostShare(1)
}
