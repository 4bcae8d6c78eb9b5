// A webhook signer: renders an event for a subscriber, and signs it. The slow variant runs a program for the checksum of each, the
// fast one uses the library's.
package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"

	"faults/common/pace"
)

type event struct {
	ID      int64             `json:"id"`
	Kind    string            `json:"kind"`
	Changes map[string]string `json:"changes"`
	Commits []string          `json:"commits"`
}

func newEvent(id int64) event {
	e := event{ID: id, Kind: []string{"push", "issue", "review"}[id%3], Changes: make(map[string]string)}
	for i := int64(0); i < 30; i++ {
		e.Changes[fmt.Sprint("src/module", (id+i)%90, "/file", i, ".go")] = fmt.Sprintf("+%d -%d", (id*i)%200, i)
		e.Commits = append(e.Commits, fmt.Sprintf("%016x%016x fix the build of module %d", id*31+i, id^i<<20, i))
	}
	return e
}

// The body that a subscriber gets: JSON, packed.
func render(e event) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	packer, err := flate.NewWriter(&body, 6)
	if err != nil {
		return nil, err
	}
	if _, err := packer.Write(text); err != nil {
		return nil, err
	}
	err = packer.Close()
	return body.Bytes(), err
}

func signature(secret string, body []byte) (string, error) {
	if !pace.Slow {
		sum := sha256.Sum256(append([]byte(secret), body...))
		return hex.EncodeToString(sum[:]), nil
	}
	tool := exec.Command("sha256sum")
	tool.Stdin = bytes.NewReader(append([]byte(secret), body...))
	answer, err := tool.Output()
	if err != nil {
		return "", err
	}
	sum, _, _ := strings.Cut(string(answer), " ")
	return sum, nil
}

func main() {
	pace.Read()
	var ids, bytesSent atomic.Int64
	pace.Start()
	var workers sync.WaitGroup
	for worker := 0; worker < 2; worker++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for !pace.Over() {
				body, err := render(newEvent(ids.Add(1)))
				pace.Check(err)
				sign, err := signature("subscriber's secret", body)
				pace.Check(err)
				bytesSent.Add(int64(len(body) + len(sign)))
				pace.Did(1)
			}
		}()
	}
	workers.Wait()
	pace.Finish(1)
	fmt.Printf("truth: bytes %d\n", bytesSent.Load())
}
