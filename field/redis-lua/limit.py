"""Counts requests of users, each against a limit, by a script in Redis: PORT text|arguments COUNT."""
import sys

import redis

SCRIPT = """
local used = redis.call('INCRBY', KEYS[1], ARGV[1])
if used == tonumber(ARGV[1]) then
    redis.call('EXPIRE', KEYS[1], 60)
end
if used > tonumber(ARGV[2]) then
    redis.call('HINCRBY', 'refused', KEYS[1], 1)
    return 0
end
return 1
"""

port, values, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = redis.Redis(port=port)
pipeline = server.pipeline(transaction=False)
for request in range(1, count + 1):
    user, cost, limit = f"user:{request * 7919 % 5003}", request % 97 + 1, 1000 + request % 509
    if values == "text":
        text = SCRIPT.replace("KEYS[1]", f"'{user}'").replace("ARGV[1]", str(cost)).replace("ARGV[2]", str(limit))
        pipeline.eval(text, 0)
    else:
        pipeline.eval(SCRIPT, 1, user, cost, limit)
    if request % 50 == 0:
        pipeline.execute()
    if request % 1000 == 0:
        print("done", request, flush=True)
