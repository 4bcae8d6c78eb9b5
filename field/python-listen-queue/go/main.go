// Makes 100 requests a second, each by a connection of its own, and every 1.3 s 16 more at the same moment. Times count from the moment at
// which a request was due. (A client sends its SYN again after 1, 3 and 7 s: no other 16 should come then.)
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"
)

const rate = 100
const burst = 16
const every = 130

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
var all sync.WaitGroup
var lock sync.Mutex
var times []float64

func request(due time.Time) {
	defer all.Done()
	answer, err := client.Get("http://127.0.0.1:" + os.Getenv("PORT") + "/")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	lock.Lock()
	defer lock.Unlock()
	times = append(times, time.Since(due).Seconds()*1e3)
}

func main() {
	seconds, _ := strconv.Atoi(os.Getenv("SECONDS_EACH"))
	begin := time.Now()
	for i := 0; i < rate*seconds; i++ {
		due := begin.Add(time.Duration(i) * time.Second / rate)
		time.Sleep(time.Until(due))
		count := 1
		if i%every == every/4 {
			count += burst
		}
		all.Add(count)
		for ; count > 0; count-- {
			go request(due)
		}
	}
	all.Wait()
	sort.Float64s(times)
	for _, part := range []float64{50, 90, 99} {
		fmt.Printf("p%v %.2f\n", part, times[int(part/100*float64(len(times)-1))])
	}
	fmt.Println("done", len(times))
}
