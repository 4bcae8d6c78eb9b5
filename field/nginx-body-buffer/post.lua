wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = string.rep('{"id":17,"name":"one of many rows"},', 3000)
