// Builds pages of 24 parts each, which it fetches from one server at once.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

var client *http.Client

func fetch(address string, all *sync.WaitGroup) {
	defer all.Done()
	answer, err := client.Get(address)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body)
}

func main() {
	idle, _ := strconv.Atoi(os.Getenv("IDLE"))
	seconds, _ := strconv.Atoi(os.Getenv("SECONDS_EACH"))
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = idle
	client = &http.Client{Transport: transport}
	pages := 0
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); pages++ {
		var all sync.WaitGroup
		for part := 0; part < 24; part++ {
			all.Add(1)
			go fetch(fmt.Sprintf("http://127.0.0.1:%s/part/%d", os.Getenv("PORT"), part), &all)
		}
		all.Wait()
	}
	fmt.Println("done", pages)
}
