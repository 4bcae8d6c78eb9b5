// load RATE SECONDS ADDRESS…: requests at a constant rate, to the addresses in turn; an answer that is late delays no later request.
// Times count from the moment at which the request was due.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"
)

func main() {
	rate, _ := strconv.ParseFloat(os.Args[1], 64)
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	addresses := os.Args[3:]
	transport := &http.Transport{MaxIdleConnsPerHost: 256, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
	times := make([]float64, int(rate*seconds))
	var all sync.WaitGroup
	begin := time.Now()
	for i := range times {
		due := begin.Add(time.Duration(float64(i) / rate * 1e9))
		time.Sleep(time.Until(due))
		all.Add(1)
		go func(i int) {
			defer all.Done()
			answer, err := client.Get(addresses[i%len(addresses)])
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			times[i] = time.Since(due).Seconds() * 1e3
		}(i)
	}
	all.Wait()
	sort.Float64s(times)
	for _, part := range []float64{50, 90, 99} {
		fmt.Printf("p%v %.2f\n", part, times[int(part/100*float64(len(times)-1))])
	}
	fmt.Println("done", len(times))
}
