// A profile page service: holds little for long, and makes much garbage for each request: rows, maps, JSON. Both variants run the
// same code; the fast one is told by its environment (GOGC) to let the small heap grow before it collects.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"runtime"
	"sync"

	"faults/common/pace"
)

type badge struct {
	Name  string
	Since int
}

type profile struct {
	ID     uint64
	Name   string
	Bio    string
	Badges []*badge
	Counts map[string]int
}

// The profiles that are asked for most; a few MB in small pieces.
type store struct {
	lock sync.RWMutex
	hot  map[uint64]*profile
}

func newProfile(id uint64) *profile {
	p := &profile{ID: id, Name: fmt.Sprint("user-", id), Bio: fmt.Sprintf("since %d, mostly harmless", 2000+id%25)}
	p.Counts = map[string]int{"followers": int(id * 7 % 1000), "posts": int(id % 77), "likes": int(id * 13 % 5000)}
	for i := uint64(0); i < 4+id%6; i++ {
		p.Badges = append(p.Badges, &badge{fmt.Sprint("badge-", (id+i)%40), int(2010 + i)})
	}
	return p
}

func (s *store) get(id uint64) *profile {
	s.lock.RLock()
	p := s.hot[id]
	s.lock.RUnlock()
	if p == nil {
		p = newProfile(id) // from the database
	}
	return p
}

func render(p *profile) ([]byte, error) {
	view := map[string]any{"id": p.ID, "name": p.Name, "bio": p.Bio, "counts": p.Counts}
	lines := make([]string, 0, len(p.Badges))
	for _, b := range p.Badges {
		lines = append(lines, fmt.Sprintf("%s (%d)", b.Name, b.Since))
	}
	view["badges"] = lines
	return json.Marshal(view)
}

func serve(s *store, worker uint64) uint64 {
	sums := fnv.New64a()
	for id := worker; !pace.Over(); id += 7919 {
		page, err := render(s.get(id % 40000))
		pace.Check(err)
		sums.Write(page)
		pace.Did(1)
	}
	return sums.Sum64()
}

func main() {
	pace.Read()
	s := &store{hot: make(map[uint64]*profile)}
	for id := uint64(0); id < 9000; id++ {
		s.hot[id] = newProfile(id)
	}
	pace.Start()
	var workers sync.WaitGroup
	for worker := uint64(0); worker < 4; worker++ {
		worker := worker
		workers.Add(1)
		go func() {
			defer workers.Done()
			serve(s, worker)
		}()
	}
	workers.Wait()
	pace.Finish(1)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Printf("truth: collections %d\n", memory.NumGC)
}
