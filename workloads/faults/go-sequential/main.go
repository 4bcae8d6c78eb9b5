// Asks a service that answers in 2 ms over loopback: one request after the other, against six at a time.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"time"

	"faults/common/frame"
)

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
				time.Sleep(2 * time.Millisecond)
				fmt.Fprintf(connection, "%x\n", lines.Bytes())
			}
		}()
	}
}

func main() {
	frame.Begin()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serve(listener)
	callers := 6
	if frame.Slow {
		callers = 1
	}
	connections := make([]*bufio.ReadWriter, callers)
	for i := range connections {
		connection, err := net.Dial("tcp", listener.Addr().String())
		check(err)
		connections[i] = bufio.NewReadWriter(bufio.NewReader(connection), bufio.NewWriter(connection))
	}
	frame.Run(callers, func(worker int) {
		connection := connections[worker]
		fmt.Fprintln(connection, "item", worker)
		check(connection.Flush())
		_, err := connection.ReadString('\n')
		check(err)
	})
	fmt.Println("truth: callers", callers)
	frame.LostShare(1)
}
