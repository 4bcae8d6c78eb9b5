// Reads a cache of 800,000 sessions 500 times a second. Times count from the moment at which a request was due.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/patrickmn/go-cache"
)

const rate = 500
const sessions = 800_000

func main() {
	seconds, _ := strconv.Atoi(os.Getenv("SECONDS_EACH"))
	cleanup, _ := time.ParseDuration(os.Getenv("CLEANUP"))
	items := make(map[string]cache.Item, sessions)
	for i := 0; i < sessions; i++ {
		items["session-"+strconv.Itoa(i)] = cache.Item{Object: i, Expiration: time.Now().Add(time.Hour).UnixNano()}
	}
	store := cache.NewFrom(time.Hour, cleanup, items)
	random := rand.New(rand.NewSource(5))
	times := make([]float64, rate*seconds)
	var all sync.WaitGroup
	begin := time.Now()
	for i := range times {
		due := begin.Add(time.Duration(i) * time.Second / rate)
		time.Sleep(time.Until(due))
		all.Add(1)
		go func(i, session int) {
			defer all.Done()
			key := "session-" + strconv.Itoa(session)
			if count, found := store.Get(key); found {
				store.SetDefault(key, count.(int)+1)
			}
			times[i] = time.Since(due).Seconds() * 1e3
		}(i, random.Intn(sessions))
	}
	all.Wait()
	sort.Float64s(times)
	for _, part := range []float64{50, 90, 99} {
		fmt.Printf("p%v %.2f\n", part, times[int(part/100*float64(len(times)-1))])
	}
	fmt.Println("done", len(times))
}
