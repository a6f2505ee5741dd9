-- The requests that wrk sends: the head is the same for all of them, the body is made from a template, so that no
-- two ask for the same. `bench/wrk.ts` says what to do in variables of the environment, which
-- `bench/operation.ts` explains.

local parts = {} -- the template, texts and the functions that make a value in turn
local head
local tokens = {}
local first, last = 1, 0 -- the tokens of `tokens` that no rotation has used yet
local new = 0

local values = {}

function values.group()
  return math.random(0, tonumber(os.getenv("BENCH_GROUPS")) - 1)
end

function values.token()
  return tokens[math.random(1, last)]
end

function values.current_token()
  local token = tokens[first]
  tokens[first] = nil
  first = first + 1
  return token
end

function values.new()
  return new
end

local function readTokens(path)
  for line in io.lines(path) do
    last = last + 1
    tokens[last] = line
  end
end

local function split(template)
  local position = 1
  for before, name, after in template:gmatch("(.-){([%l_]+)}()") do
    parts[#parts + 1] = before
    parts[#parts + 1] = name
    position = after
  end
  parts[#parts + 1] = template:sub(position)
end

function init()
  math.randomseed(tonumber(os.getenv("BENCH_SEED")))
  new = tonumber(os.getenv("BENCH_FIRST_NEW"))
  readTokens(os.getenv("BENCH_TOKENS"))
  split(os.getenv("BENCH_BODY"))
  head = table.concat({
    os.getenv("BENCH_METHOD") .. " " .. os.getenv("BENCH_REQUEST_PATH") .. " HTTP/1.1",
    "Host: " .. wrk.host .. ":" .. wrk.port,
    "Authorization: Token " .. os.getenv("BENCH_API_TOKEN"),
    "Content-Type: application/json",
    "Content-Length: ",
  }, "\r\n")
  -- wrk reads answers into Lua only where there is such a function; it costs the client time.
  if os.getenv("BENCH_BODY"):find("{current_token}", 1, true) then
    response = keepToken
  end
end

function request()
  local pieces = { parts[1] }
  local made = {} -- a name stands for the same value throughout a body
  new = new + 1
  for index = 2, #parts, 2 do
    local name = parts[index]
    made[name] = made[name] or values[name]()
    pieces[index] = made[name]
    pieces[index + 1] = parts[index + 1]
  end
  local body = table.concat(pieces)
  return head .. #body .. "\r\n\r\n" .. body
end

function keepToken(_, _, body)
  last = last + 1
  tokens[last] = body:match('"token":"([^"]+)"')
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"badAnswers":%d,"brokenConnections":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
