-- Planets around a star: a loop of floating point and table accesses.
local function make(i) return { x = i * 1.1, y = i * 0.7, z = i * 0.3, vx = 0.1 / (i + 1), vy = 0.02 * i, vz = 0.01, mass = 1 / (i + 1) } end
local bodies = {}
for i = 1, 5 do bodies[i] = make(i) end
local function advance(step)
  for i = 1, #bodies do
    local a = bodies[i]
    for j = i + 1, #bodies do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      local square = dx * dx + dy * dy + dz * dz
      local force = step / (square * square ^ 0.5)
      a.vx = a.vx - dx * b.mass * force
      a.vy = a.vy - dy * b.mass * force
      a.vz = a.vz - dz * b.mass * force
      b.vx = b.vx + dx * a.mass * force
      b.vy = b.vy + dy * a.mass * force
      b.vz = b.vz + dz * a.mass * force
    end
  end
  for i = 1, #bodies do
    local a = bodies[i]
    a.x, a.y, a.z = a.x + step * a.vx, a.y + step * a.vy, a.z + step * a.vz
  end
end
for _ = 1, tonumber(arg[1]) do advance(0.001) end
print(string.format("%.6f", bodies[1].x))
