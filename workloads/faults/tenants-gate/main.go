// Tenants' settings over HTTP, with a connection for each request. Who connects is looked up in the block list of another service:
// in slow by the listener, so that the next connection is accepted only after that, in fast by what handles the request.
package main

import (
	"faults/common/frame"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

var lists = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func allowed(address string) bool {
	host, _, _ := strings.Cut(address, ":")
	answer, err := lists.Get("http://127.0.0.1:" + os.Args[3] + "/blocked/" + host)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err == nil && answer.StatusCode == 200
}

// gate is a listener that accepts only who is allowed.
type gate struct{ net.Listener }

func (g gate) Accept() (net.Conn, error) {
	for {
		connection, err := g.Listener.Accept()
		if err != nil || allowed(connection.RemoteAddr().String()) {
			return connection, err
		}
		connection.Close()
	}
}

func main() {
	frame.Words(3, "slow|fast PORT PORT-OF-LISTS")
	slow := os.Args[1] == "slow"
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if slow {
		listener = gate{listener}
	}
	http.HandleFunc("/tenant/", func(out http.ResponseWriter, request *http.Request) {
		if !slow && !allowed(request.RemoteAddr) {
			http.Error(out, "blocked", http.StatusForbidden)
			return
		}
		fmt.Fprintf(out, "{\"tenant\": %q, \"plan\": \"team\", \"limits\": [10, 100, 1000]}\n", request.URL.Path)
	})
	fmt.Fprintln(os.Stderr, http.Serve(listener, nil))
	os.Exit(1)
}
