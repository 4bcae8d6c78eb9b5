// A log scrubber: takes addresses, card numbers and tokens out of lines before they are stored. The slow variant compiles a rule's
// expression where it is used; the fast one has done that once.
package main

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"sync"

	"faults/common/pace"
)

type rule struct {
	name, expression, replacement string
	compiled                      *regexp.Regexp
}

var rules = []*rule{
	{name: "mail", expression: `[a-z0-9._]+@[a-z0-9.-]+\.[a-z]{2,6}`, replacement: "<mail>"},
	{name: "card", expression: `\b\d{4}-\d{4}-\d{4}-\d{4}\b`, replacement: "<card>"},
	{name: "token", expression: `token=[0-9a-f]{16,32}`, replacement: "token=<token>"},
}

// The expression of a rule, ready for use.
func (r *rule) matcher() *regexp.Regexp {
	if pace.Slow {
		return regexp.MustCompile(r.expression)
	}
	return r.compiled
}

// A rule is only tried on lines that can match.
func (r *rule) mayApply(line string) bool {
	switch r.name {
	case "mail":
		return strings.IndexByte(line, '@') >= 0
	case "card":
		return strings.Count(line, "-") >= 3
	}
	return strings.Contains(line, "token=")
}

func scrub(line string) string {
	for _, r := range rules {
		if r.mayApply(line) {
			line = r.matcher().ReplaceAllString(line, r.replacement)
		}
	}
	return line
}

func logLine(number uint64) string {
	roll := number * 0x9e3779b97f4a7c15 >> 24
	switch roll % 4 {
	case 0:
		return fmt.Sprintf("level=info msg=\"order %d confirmed\" to=user.%d@example.net took=%dms from=10.0.3.%d build=9f2", number, roll%9000, roll%80, roll%250)
	case 1:
		return fmt.Sprintf("level=warn msg=\"payment retried\" card=4000-%04d-%04d-%04d attempt=%d gateway=eu-west-1", roll%9999, roll>>4%9999, roll>>9%9999, roll%5)
	case 2:
		return fmt.Sprintf("level=debug msg=\"session renewed\" token=%016x user=%d agent=mobile/7.1 shard=%d", number^roll, roll%5000, roll%16)
	}
	return fmt.Sprintf("level=info msg=\"cache warm\" entries=%d seconds=%d host=web-%02d", roll%100000, roll%60, roll%20)
}

func scrubAll(worker uint64) uint64 {
	sums := fnv.New64a()
	for number := worker << 40; !pace.Over(); number++ {
		sums.Write([]byte(scrub(logLine(number))))
		pace.Did(1)
	}
	return sums.Sum64()
}

func main() {
	pace.Read()
	for _, r := range rules {
		r.compiled = regexp.MustCompile(r.expression)
	}
	pace.Start()
	var workers sync.WaitGroup
	for worker := uint64(0); worker < 2; worker++ {
		worker := worker
		workers.Add(1)
		go func() {
			defer workers.Done()
			scrubAll(worker)
		}()
	}
	workers.Wait()
	pace.Finish(1)
}
