-- The requests that wrk sends: path and body are made from templates, so that no two ask for the same. `bench/wrk.ts` says what to do in variables of the environment, which
-- `bench/operation.ts` explains.

local method, headers
local path, body -- templates, see `split`
local groups
local anyToken = { text = "", count = 0, length = 0 } -- see `loadTokens`
local tokens = {}
local first, last = 1, 0 -- the tokens of `tokens` that no rotation has used yet
local new = 0

local values = {}

function values.group()
  return math.random(0, groups - 1)
end

function values.token()
  local start = math.random(0, anyToken.count - 1) * (anyToken.length + 1)
  return anyToken.text:sub(start + 1, start + anyToken.length)
end

function values.current_token()
  local token = tokens[first]
  tokens[first] = nil
  first = first + 1
  return token
end

function values.new()
  new = new + 1
  return new
end

function values.random()
  return string.format("%08x%08x", math.random(0, 0xffffffff), math.random(0, 0xffffffff))
end

-- One text of all, which have one length: a million in a table stop the client for 50 ms whenever Lua collects garbage.
local function loadTokens(path)
  local file = io.open(path)
  anyToken.text = file:read("*a") .. "\n"
  file:close()
  anyToken.length = anyToken.text:find("\n", 1, true) - 1
  anyToken.count = #anyToken.text / (anyToken.length + 1)
end

-- In a table, which rotations change.
local function queueTokens(path)
  for line in io.lines(path) do
    last = last + 1
    tokens[last] = line
  end
end

local function queueToken(_, _, body)
  last = last + 1
  tokens[last] = body:match('"token":"([^"]+)"')
end

-- pieces: each request puts its own values between the fixed texts. slots: for each kind of value what makes one, and
-- at which places of the pieces it goes.
local function split(template)
  local pieces, slots, slotOf = {}, {}, {}
  local position = 1
  for before, name, after in template:gmatch("(.-){([%l_]+)}()") do
    if not slotOf[name] then
      slotOf[name] = { make = values[name], places = {} }
      slots[#slots + 1] = slotOf[name]
    end
    pieces[#pieces + 1] = before
    pieces[#pieces + 1] = ""
    table.insert(slotOf[name].places, #pieces)
    position = after
  end
  pieces[#pieces + 1] = template:sub(position)
  return { pieces = pieces, slots = slots }
end

local function fill(template)
  local pieces, slots = template.pieces, template.slots
  for index = 1, #slots do
    local slot = slots[index]
    local value = slot.make()
    for place = 1, #slot.places do
      pieces[slot.places[place]] = value
    end
  end
  return table.concat(pieces)
end

function init()
  math.randomseed(tonumber(os.getenv("BENCH_SEED")))
  groups = tonumber(os.getenv("BENCH_GROUPS"))
  new = tonumber(os.getenv("BENCH_FIRST_NEW"))
  method = os.getenv("BENCH_METHOD")
  path = split(os.getenv("BENCH_REQUEST_PATH"))
  body = split(os.getenv("BENCH_BODY"))
  headers = table.concat({
    " HTTP/1.1",
    "Host: " .. wrk.host .. ":" .. wrk.port,
    "Authorization: Token " .. os.getenv("BENCH_API_TOKEN"),
    "",
  }, "\r\n")
  if os.getenv("BENCH_BODY"):find("{current_token}", 1, true) then
    queueTokens(os.getenv("BENCH_TOKENS"))
    -- wrk reads answers into Lua only where there is such a function; it costs the client time.
    response = queueToken
  else
    loadTokens(os.getenv("BENCH_TOKENS"))
  end
end

function request()
  local line = method .. " " .. fill(path) .. headers
  local text = fill(body)
  if text == "" then
    return line .. "\r\n"
  end
  return line .. "Content-Type: application/json\r\nContent-Length: " .. #text .. "\r\n\r\n" .. text
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"badAnswers":%d,"brokenConnections":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
