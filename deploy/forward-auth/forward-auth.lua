-- The action of haproxy.cfg. It uses the HTTP client of HAProxy (2.6 or later) and no other library.

-- What the dashboard reads, such as schemas=40&properties=customer_id: a viewer without one of them is refused.
local url = os.getenv("USER_GROUP_SERVICE_URL") .. "/v1/forward-auth?schemas=40"
local authorization = "Token " .. os.getenv("USER_GROUP_SERVICE_TOKEN")
local answer_header = "^x%-user%-group%-"

-- Also names that a dashboard might read alike: CGI, WSGI, PHP and others do not distinguish a hyphen from an underscore, a
-- dot or another separator.
local function is_about_viewer(name)
  return name:lower():gsub("[^%w]", ""):find("usergroup", 1, true)
end

-- The values of a header, which start at 0. Two tokens that are joined are none.
local function join(values, separator)
  return values and table.concat(values, separator or ", ", 0)
end

-- After "Bearer" in Authorization, otherwise in X-User-Group-Token. The service reads the cookie itself.
local function viewer_token(headers)
  local bearer = join(headers["authorization"])
  if bearer and bearer:lower():find("^bearer ") then
    return bearer
  end
  return join(headers["x-user-group-token"])
end

-- Whether the request has these headers. HAProxy does not report a header for which its buffer has no room: without this
-- check, a viewer could push headers out with long ones.
local function has_all(headers, expected)
  for name, value in pairs(expected) do
    if join(headers[name]) ~= value then
      return false
    end
  end
  return true
end

core.register_action("forward-auth", { "http-req" }, function(txn)
  local headers = txn.http:req_get_headers()
  for name in pairs(headers) do
    if is_about_viewer(name) then
      txn.http:req_del_header(name)
    end
  end
  local question = { ["authorization"] = { authorization } }
  question["x-user-group-token"] = { viewer_token(headers) }
  question["cookie"] = { join(headers["cookie"], "; ") }
  -- For the log of the service, if its UGS_TRUSTED_PROXIES has the address of HAProxy.
  question["x-forwarded-for"] = { txn.sf:src() }
  local answer = core.httpclient():get({ url = url, headers = question, timeout = 10000 })
  if answer.status == 401 then
    txn:set_var("txn.forward_auth", "denied")
  elseif answer.status == 200 and answer.headers["x-user-group-id"] then
    local viewer = {}
    for name, values in pairs(answer.headers) do
      if name:lower():find(answer_header) then
        viewer[name:lower()] = join(values)
        txn.http:req_set_header(name, join(values))
      end
    end
    local is_complete = has_all(txn.http:req_get_headers(), viewer)
    txn:set_var("txn.forward_auth", is_complete and "allowed" or "incomplete")
  end
end, 0)
