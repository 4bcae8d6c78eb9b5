-- cause dns: host names are looked up, and the answers take long or are not kept
-- layer: io
-- page: network profiles
-- needs: thread_time
-- before: retransmits nagle net-drops listen-overflow timed-polling context-switches syscalls too-few-threads
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
select 'host names' as subject, cell, 1.0 as part from budget
where path glob '*;getaddrinfo;*' or path glob '*;gethostbyname*' or path glob '*;__res_*' or path glob '*;res_*search;*'
   or path glob '*;java.net.InetAddress.get*ByName*' or path glob '*;net.([*]Resolver).*'
   or path glob '*;uv__getaddrinfo_work;*' or path glob '*;socket_getaddrinfo;*'
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
-- test refuses: a wait for the server itself
-- budget state=network what=tcp_recvmsg path=';main;fetch;recv;' slow=4 against=1
