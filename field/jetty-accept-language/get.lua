local values = {}
for i = 1, 60 do
    values[i] = string.format("%c%c;q=0.%03d", 97 + i % 26, 97 + (i * 7) % 26, i)
end
wrk.headers["Accept-Language"] = table.concat(values, ",")
