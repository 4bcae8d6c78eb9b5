// A page of an order, over HTTP: the order's articles are read from PostgreSQL, in slow with a query for each article, as an ORM
// does that loads what belongs to a row when it is asked for; in fast with one query for all.
package main

import (
	"bufio"
	"encoding/binary"
	"faults/common/frame"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

const (
	articles = 10000
	lines    = 40 // articles of an order
)

// connection is one to PostgreSQL, which trusts us, by its simple query protocol.
type connection struct {
	net.Conn
	answers *bufio.Reader
}

func dial(socket string) (*connection, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	c := &connection{conn, bufio.NewReader(conn)}
	start := "\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00"
	if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(start)+4)), start...)); err != nil {
		return nil, err
	}
	_, err = c.rows()
	return c, err
}

// rows reads an answer up to `ready for query`; the rows as PostgreSQL sent them.
func (c *connection) rows() (rows [][]byte, err error) {
	var head [5]byte
	for {
		if _, err = io.ReadFull(c.answers, head[:]); err != nil {
			return nil, err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err = io.ReadFull(c.answers, body); err != nil {
			return nil, err
		}
		switch head[0] {
		case 'D':
			rows = append(rows, body)
		case 'E':
			return nil, fmt.Errorf("postgres: %q", body)
		case 'Z':
			return rows, nil
		}
	}
}

func (c *connection) query(text string) ([][]byte, error) {
	message := binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(len(text)+5))
	if _, err := c.Write(append(append(message, text...), 0)); err != nil {
		return nil, err
	}
	return c.rows()
}

func (c *connection) order(number int, eachAlone bool) (rows [][]byte, err error) {
	const question = "select id, name, price from articles where id in (%s)"
	var ids []string
	for line := 0; line < lines; line++ {
		id := fmt.Sprint((number*7919+line*104729)%articles + 1)
		if eachAlone {
			one, err := c.query(fmt.Sprintf(question, id))
			if err != nil {
				return nil, err
			}
			rows = append(rows, one...)
		}
		ids = append(ids, id)
	}
	if eachAlone {
		return rows, nil
	}
	return c.query(fmt.Sprintf(question, strings.Join(ids, ",")))
}

func main() {
	frame.Words(3, "slow|fast PORT SOCKET-OF-POSTGRES")
	pool := make(chan *connection, 4)
	for i := 0; i < cap(pool); i++ {
		c, err := dial(os.Args[3])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		pool <- c
	}
	http.HandleFunc("/order/", func(out http.ResponseWriter, request *http.Request) {
		var number int
		fmt.Sscanf(request.URL.Path, "/order/%d", &number)
		c := <-pool
		rows, err := c.order(number, os.Args[1] == "slow")
		pool <- c
		if err != nil || len(rows) != lines {
			http.Error(out, fmt.Sprint(len(rows), " articles: ", err), 500)
			return
		}
		for _, row := range rows {
			fmt.Fprintf(out, "<tr>%q", row[6:])
		}
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
	os.Exit(1)
}
