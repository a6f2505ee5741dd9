-- Generates the requests of wrk: path and body are filled from templates, so that requests differ. `bench/wrk.ts` sets
-- the environment variables; `bench/operation.ts` describes the templates.

local method, headers, contentType
local path, header, body -- templates, see `split`
local groups
local anyToken = { text = "", count = 0, length = 0 } -- see `loadTokens`
local tokens = {}
local first, last = 1, 0 -- the range of `tokens` that no rotation has used yet
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

-- Loads all tokens as one string, since they have the same length: with a table of a million, each garbage
-- collection of Lua would block the client for 50 ms.
local function loadTokens(path)
  local file = io.open(path)
  anyToken.text = file:read("*a") .. "\n"
  file:close()
  anyToken.length = anyToken.text:find("\n", 1, true) - 1
  anyToken.count = #anyToken.text / (anyToken.length + 1)
end

-- Loads the tokens as a table, since rotations change it.
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

-- Splits a template into `pieces` (the fixed texts, with a gap between them for each value) and `slots` (for
-- each kind of value, its generator and the positions of its gaps in the pieces).
local function split(template)
  local pieces, slots, slotOf = {}, {}, {}
  local position = 1
  for before, name, after in template:gmatch("(.-){([%l_]+)}()") do
    if not slotOf[name] then
      slotOf[name] = { generate = values[name], positions = {} }
      slots[#slots + 1] = slotOf[name]
    end
    pieces[#pieces + 1] = before
    pieces[#pieces + 1] = ""
    table.insert(slotOf[name].positions, #pieces)
    position = after
  end
  pieces[#pieces + 1] = template:sub(position)
  return { pieces = pieces, slots = slots }
end

local function fill(template)
  local pieces, slots = template.pieces, template.slots
  for index = 1, #slots do
    local slot = slots[index]
    local value = slot.generate()
    for position = 1, #slot.positions do
      pieces[slot.positions[position]] = value
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
  header = split(os.getenv("BENCH_HEADER"))
  body = split(os.getenv("BENCH_BODY"))
  headers = table.concat({
    " HTTP/1.1",
    "Host: " .. wrk.host .. ":" .. wrk.port,
    "Authorization: Token " .. os.getenv("BENCH_API_TOKEN"),
  }, "\r\n")
  contentType = "\r\nContent-Type: " .. os.getenv("BENCH_MEDIA_TYPE") .. "\r\nContent-Length: "
  if os.getenv("BENCH_BODY"):find("{current_token}", 1, true) then
    queueTokens(os.getenv("BENCH_TOKENS"))
    -- wrk passes responses to Lua only if this function exists, since it slows the client down.
    response = queueToken
  else
    loadTokens(os.getenv("BENCH_TOKENS"))
  end
end

function request()
  local head = method .. " " .. fill(path) .. headers .. fill(header)
  local text = fill(body)
  if text == "" then
    return head .. "\r\n\r\n"
  end
  return head .. contentType .. #text .. "\r\n\r\n" .. text
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"badResponses":%d,"connectionErrors":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
