# The third column of pgbench's logs is the time of a transaction in µs, from the moment at which it was due.
cat "$@" | awk '{ print $3 / 1000 }' | sort -n | awk '{ times[NR] = $1 } END { for (part = 50; part <= 99; part += part < 90 ? 40 : 9) print "p" part, times[int(NR * part / 100) + 1] }'
