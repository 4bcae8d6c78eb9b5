// A price simulator: goroutines walk random paths of a price, and take the mean of what an option is worth at their ends. The
// slow variant's draw from one source of random numbers behind a mutex, the fast one's each from a source of its own.
package main

import (
	"fmt"
	"math"
	"math/rand"
	"sync"

	"faults/common/pace"
)

const (
	steps  = 64
	spot   = 100.0
	strike = 105.0
)

// A source that several goroutines may use.
type source struct {
	lock   *sync.Mutex
	random *rand.Rand
}

func newSource(seed int64) *source {
	return &source{new(sync.Mutex), rand.New(rand.NewSource(seed))}
}

func (s *source) normal() float64 {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.random.NormFloat64()
}

type market struct{ drift, volatility float64 }

// The price at the end of a path, day by day.
func (m market) walk(draws *source) float64 {
	const day = 1.0 / 252
	price := spot
	for i := 0; i < steps; i++ {
		change := (m.drift-m.volatility*m.volatility/2)*day + m.volatility*math.Sqrt(day)*draws.normal()
		price *= math.Exp(change)
	}
	return price
}

func payoff(price float64) float64 { return math.Max(price-strike, 0) }

func simulate(m market, draws *source) (sum float64, paths int) {
	for !pace.Over() {
		for i := 0; i < 20; i++ {
			sum += payoff(m.walk(draws))
			paths++
		}
		pace.Did(20)
	}
	return sum, paths
}

func main() {
	pace.Read()
	m := market{drift: 0.03, volatility: 0.2}
	common := newSource(1)
	const workers = 4
	sums, paths := make([]float64, workers), make([]int, workers)
	pace.Start()
	var running sync.WaitGroup
	for worker := 0; worker < workers; worker++ {
		worker := worker
		draws := common
		if !pace.Slow {
			draws = newSource(int64(worker) + 1)
		}
		running.Add(1)
		go func() {
			defer running.Done()
			sums[worker], paths[worker] = simulate(m, draws)
		}()
	}
	running.Wait()
	pace.Finish(1)
	sum, count := 0.0, 0
	for worker := range sums {
		sum += sums[worker]
		count += paths[worker]
	}
	fmt.Printf("truth: worth of the option %.3f\n", sum/math.Max(float64(count), 1))
}
