-- Has wrk print "requests p50 p99", the latter in microseconds, in place of a table, for scripts/bench/turns.sh.
function done(summary, latency)
    local errors = summary.errors
    io.stderr:write(string.format('%d %.0f %.0f %d\n', summary.requests, latency:percentile(50), latency:percentile(99), errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
