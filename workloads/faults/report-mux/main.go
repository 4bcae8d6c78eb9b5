// A front of a store of reports, over HTTP. Slow sends all questions to the store over one connection, one behind the other, and
// the store answers them in that order: few that take long hold up the many that do not. Fast sends those that take long over
// connections of their own.
package main

import (
	"bufio"
	"faults/common/frame"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
)

// mux is a connection on which many questions wait for their answers, in order.
type mux struct {
	lock    sync.Mutex
	conn    net.Conn
	waiting chan chan int // of those whose answers are to come: the size of the answer
}

func dial(port string) (*mux, error) {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return nil, err
	}
	m := &mux{conn: conn, waiting: make(chan chan int, 1024)}
	go m.read()
	return m, nil
}

func (m *mux) read() {
	answers := bufio.NewReader(m.conn)
	for answered := range m.waiting {
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		body, _ := io.ReadAll(answer.Body)
		answered <- len(body)
	}
}

func (m *mux) ask(path string) int {
	answered := make(chan int, 1)
	m.lock.Lock()
	m.waiting <- answered
	fmt.Fprintf(m.conn, "GET %s HTTP/1.1\r\nHost: store\r\n\r\n", path)
	m.lock.Unlock()
	return <-answered
}

func main() {
	frame.Words(3, "slow|fast PORT PORT-OF-STORE")
	shared, err := dial(os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	own := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	http.HandleFunc("/", func(out http.ResponseWriter, request *http.Request) {
		size := 0
		if os.Args[1] == "fast" && strings.HasPrefix(request.URL.Path, "/yearly") {
			answer, err := own.Get("http://127.0.0.1:" + os.Args[3] + request.URL.Path)
			if err != nil {
				http.Error(out, err.Error(), http.StatusBadGateway)
				return
			}
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			size = len(body)
		} else {
			size = shared.ask(request.URL.Path)
		}
		fmt.Fprintf(out, "{\"report\": %q, \"size\": %d}\n", request.URL.Path, size)
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
	os.Exit(1)
}
