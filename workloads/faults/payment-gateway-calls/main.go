// A payment gateway: asks a risk service over HTTP about each payment, looks at the status and the first bytes of the answer, and
// goes on. The slow variant closes the answer's body as it is, the fast one reads what is left of it first; only then does the
// HTTP client use the connection again.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"faults/common/pace"
)

var connections atomic.Int64

// What the service says of a payment: a verdict, and its reasons, which only people read.
func riskService() string {
	reasons := strings.Repeat("rule 17 passed; ", 500)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		score := sha256.Sum256([]byte(r.URL.Path))
		for i := 0; i < 300; i++ {
			score = sha256.Sum256(score[:])
		}
		verdict := "accept"
		if score[0] < 5 {
			verdict = "refuse"
		}
		// A client that has closed the connection is no error of the service.
		io.WriteString(w, verdict+"\n"+reasons)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	pace.Check(err)
	server := &http.Server{Handler: handler, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}}
	go server.Serve(listener)
	return "http://" + listener.Addr().String()
}

func verdictOf(body io.Reader) (string, error) {
	first := make([]byte, 6)
	_, err := io.ReadFull(body, first)
	return string(first), err
}

func ask(client *http.Client, service string, payment int64) (string, error) {
	answer, err := client.Get(fmt.Sprintf("%s/payments/%d", service, payment))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	verdict, err := verdictOf(answer.Body)
	if err == nil && !pace.Slow {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	return verdict, err
}

func main() {
	pace.Read()
	service := riskService()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	var payments, refused atomic.Int64
	pace.Start()
	var workers sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for !pace.Over() {
				verdict, err := ask(client, service, payments.Add(1))
				pace.Check(err)
				if verdict == "refuse" {
					refused.Add(1)
				}
				pace.Did(1)
			}
		}()
	}
	workers.Wait()
	pace.Finish(1)
	fmt.Printf("truth: connections %d\ntruth: refused %d\n", connections.Load(), refused.Load())
}
