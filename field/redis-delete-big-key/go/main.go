// Reads a key 400 times a second, and meanwhile deletes 6 baskets, one by one. A late answer delays no later request.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"
)

const rate = 400
const baskets = 6

var idle = make(chan net.Conn, 1000)

func ask(command string) {
	var connection net.Conn
	select {
	case connection = <-idle:
	default:
		var err error
		if connection, err = net.Dial("tcp", "127.0.0.1:"+os.Getenv("PORT")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fmt.Fprintf(connection, "%s\r\n", command)
	bufio.NewReader(connection).ReadString('\n')
	idle <- connection
}

func main() {
	seconds, _ := strconv.Atoi(os.Getenv("SECONDS_EACH"))
	times := make([]float64, rate*seconds)
	var all sync.WaitGroup
	begin := time.Now()
	for i := range times {
		due := begin.Add(time.Duration(i) * time.Second / rate)
		time.Sleep(time.Until(due))
		if every := len(times) / baskets; i%every == every/2 {
			go ask(fmt.Sprintf("DEL basket:%d", i/every))
		}
		all.Add(1)
		go func(i int) {
			defer all.Done()
			ask("EXISTS article:17")
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
