-- Reads lines into records, joins them again: many small tables and strings.
local total = 0
for round = 1, tonumber(arg[1]) do
  local records = {}
  for i = 1, 2000 do
    records[i] = { key = { i }, point = { x = i, y = round }, tags = { "a", "b", i } }
  end
  for i = 1, #records do total = total + records[i].point.x end
end
print(total)
