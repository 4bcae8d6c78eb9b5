// A trade importer: reads trades as words of a text file and books them by account. The slow variant hands the file itself to
// fmt.Fscan, which then reads byte by byte; the fast one a buffered reader of it.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"faults/common/pace"
)

const trades = 4000

type trade struct {
	symbol          string
	account         uint32
	price, quantity int64
}

type ledger struct {
	positions map[string]int64
	cash      map[uint32]int64
	seal      [32]byte
}

func writeTrades(path string) {
	file, err := os.Create(path)
	pace.Check(err)
	out := bufio.NewWriter(file)
	state := uint64(17)
	for i := 0; i < trades; i++ {
		state = state*6364136223846793005 + 1442695040888963407
		roll := state >> 20
		fmt.Fprintf(out, "%c%c%c %d %d %d\n", 'A'+roll%26, 'A'+roll>>5%26, 'A'+roll>>10%26, 100+roll>>15%800, 1000+roll>>7%90000, roll%200)
	}
	pace.Check(out.Flush())
	pace.Check(file.Close())
}

// Books a trade, and seals the ledger with it, so that nobody can take it out again.
func (l *ledger) book(t trade) {
	l.positions[t.symbol] += t.quantity
	l.cash[t.account] -= t.price * t.quantity
	record := append(l.seal[:], t.symbol...)
	record = binary.LittleEndian.AppendUint64(record, uint64(t.price))
	for i := 0; i < 12; i++ {
		l.seal = sha256.Sum256(record)
		copy(record, l.seal[:])
	}
}

func importTrades(source io.Reader, l *ledger) {
	for !pace.Over() {
		var t trade
		_, err := fmt.Fscan(source, &t.symbol, &t.account, &t.price, &t.quantity)
		if err == io.EOF {
			return
		}
		pace.Check(err)
		l.book(t)
		pace.Did(1)
	}
}

func main() {
	pace.Read()
	path := filepath.Join(pace.Dir, "trades.txt")
	writeTrades(path)
	defer os.Remove(path)
	l := &ledger{positions: make(map[string]int64), cash: make(map[uint32]int64)}
	pace.Start()
	for !pace.Over() {
		file, err := os.Open(path)
		pace.Check(err)
		var source io.Reader = file
		if !pace.Slow {
			source = bufio.NewReader(file)
		}
		importTrades(source, l)
		file.Close()
	}
	pace.Finish(1)
	fmt.Fprintf(os.Stderr, "seal: %x\n", l.seal[:8])
}
