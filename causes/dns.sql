-- cause dns: host names are looked up, and the answers take long or are not kept
-- layer: io
-- page: network profiles
-- needs: thread_time
-- before: goroutine-lock thundering-herd retransmits nagle net-drops listen-overflow timed-polling context-switches syscalls too-few-threads
-- says: looking up host names takes {slow:s} per unit of work (baseline {against:s})[[, mostly for {top:fn}]]
-- evidence: of it waiting for the answer: {waits:s}
-- check: resolvectl statistics; tcpdump -n port 53; getent ahosts NAME, timed; the search and options lines of
--   /etc/resolv.conf
-- try: keep connections, or the addresses; a local cache (systemd-resolved, nscd, dnsmasq, NodeLocal DNSCache)
-- try: a final dot on names with few dots, or ndots:1: else each search domain is asked first; options timeout and
--   attempts
-- experiment: env RES_OPTIONS: x1 ndots:1
-- see: resolv.conf(5), getaddrinfo(3)
-- claims:
with
-- What of the longer time of requests name servers took; where nothing is served, of what was waited for.
served as materialized (
    select coalesce(sum(iif(role = 'server', slow_time - against_time, 0)), 0) as more,
           coalesce(sum(iif(role = 'client' and place glob '*:53', slow_time - against_time, 0)), 0) as asked
    from turn_use
),
asked as materialized (
    select min(max(asked, 0) / iif(more > 0, more, max((select sum(slow - against) from budget
                                                        where state in ('idle', 'network')), 1e-9)), 1) as part
    from served
)
select 'host names' as subject, cell, 1.0 as part from budget
where path glob '*;getaddrinfo;*' or path glob '*;gethostbyname*' or path glob '*;__res_*' or path glob '*;res_*search;*'
   or path glob '*;java.net.InetAddress.get*ByName*' or path glob '*;net.([*]Resolver).*'
   or path glob '*;uv__getaddrinfo_work;*' or path glob '*;socket_getaddrinfo;*'
union all
select 'host names', b.cell, a.part from budget b, asked a
where b.state in ('idle', 'network', 'fewer_threads') and b.share > 0 and a.part > 0.05
-- tells:
select sum(iif(b.state in ('user', 'kernel'), 0, b.slow)) as waits,
       (select b.caller from claimed c join budget b on b.cell = c.cell
        where b.caller is not null and b.caller not glob '*getaddrinfo*' and b.caller not glob '*gethostby*'
        group by b.caller order by sum(b.slow) desc limit 1) as top
from claimed c join budget b on b.cell = c.cell
-- test claims: a client that asks for its server's address before each request
-- budget* state=network what=do_sys_poll path=';main;fetch;getaddrinfo;__res_context_query;poll;' caller=fetch slow=4
-- budget* state=user path=';main;fetch;getaddrinfo;' function=getaddrinfo caller=fetch slow=1
-- budget state=network path=';main;fetch;recv;' slow=1 against=1
-- says 'looking up host names takes 5 s per operation (baseline 0 s), mostly for `fetch()`'
-- test claims: name servers are asked over sockets
-- turn_use role=client protocol=udp place=10.0.0.53:53 slow_time=0.002 against_time=0 slow_turns=1
-- turn_use role=server place='port 80' slow_time=0.003 against_time=0.001 slow_turns=1 against_turns=1
-- budget* state=idle slow=4 against=1
-- budget state=user path=';main;parse;' slow=1 against=1
-- test refuses: a wait for the server itself
-- budget state=network what=tcp_recvmsg path=';main;fetch;recv;' slow=4 against=1
