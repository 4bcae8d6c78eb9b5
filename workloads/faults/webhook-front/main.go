// A front of webhooks: before it takes one, it resolves the host that the webhook is for and refuses those in private networks,
// then signs it. Slow asks the resolver for each; fast keeps answers for half a minute.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"faults/common/frame"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

var resolver = net.Resolver{
	PreferGo: true,
	Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "udp", os.Args[3])
	},
}

type answer struct {
	addresses []net.IP
	until     time.Time
}

// cache is of answers by host.
var cache sync.Map

func lookUp(ctx context.Context, host string) ([]net.IP, error) {
	if os.Args[1] == "slow" {
		return resolver.LookupIP(ctx, "ip4", host)
	}
	if known, ok := cache.Load(host); ok && time.Now().Before(known.(answer).until) {
		return known.(answer).addresses, nil
	}
	addresses, err := resolver.LookupIP(ctx, "ip4", host)
	if err == nil {
		cache.Store(host, answer{addresses, time.Now().Add(30 * time.Second)})
	}
	return addresses, err
}

func main() {
	frame.Words(3, "slow|fast PORT RESOLVER")
	http.HandleFunc("/hook/", func(out http.ResponseWriter, request *http.Request) {
		var number int
		fmt.Sscanf(request.URL.Path, "/hook/%d", &number)
		addresses, err := lookUp(request.Context(), fmt.Sprintf("hooks.tenant-%d.example.com.", number%50))
		if err != nil {
			http.Error(out, err.Error(), http.StatusBadGateway)
			return
		}
		for _, address := range addresses {
			if address.IsPrivate() {
				http.Error(out, "a private address", http.StatusForbidden)
				return
			}
		}
		signature := hmac.New(sha256.New, []byte("a secret of this tenant"))
		signature.Write([]byte(strings.Repeat(request.URL.Path, 50)))
		fmt.Fprintf(out, "{\"accepted\": %d, \"signature\": \"%x\"}\n", number, signature.Sum(nil))
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
	os.Exit(1)
}
