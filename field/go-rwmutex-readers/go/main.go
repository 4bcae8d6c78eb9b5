// Two goroutines look up prices in a catalogue that is filled once.
package main

import (
	"fmt"
	"os"
	"sync"
)

type Catalogue interface{ Price(id int) int }

type Locked struct {
	mu     sync.RWMutex
	prices map[int]int
}

func (c *Locked) Price(id int) int {
	c.mu.RLock()
	price := c.prices[id]
	c.mu.RUnlock()
	return price
}

type Concurrent struct{ prices sync.Map }

func (c *Concurrent) Price(id int) int {
	price, _ := c.prices.Load(id)
	return price.(int)
}

func main() {
	const items, lookups = 1000, 60_000_000
	locked, concurrent := &Locked{prices: map[int]int{}}, &Concurrent{}
	for id := 0; id < items; id++ {
		locked.prices[id] = id * 3
		concurrent.prices.Store(id, id*3)
	}
	var catalogue Catalogue = locked
	if os.Args[1] == "syncmap" {
		catalogue = concurrent
	}
	var all sync.WaitGroup
	sums := make([]int, 2)
	for shopper := range sums {
		shopper := shopper
		all.Add(1)
		go func() {
			defer all.Done()
			sum := 0
			for n := 0; n < lookups; n++ {
				sum += catalogue.Price((n*7 + shopper) % items)
			}
			sums[shopper] = sum
		}()
	}
	all.Wait()
	fmt.Println(sums[0] > 0, sums[1] > 0)
}
