-- The action of haproxy.cfg. It uses the HTTP client of HAProxy (2.6 or later) and no other library.

local url = os.getenv("USER_GROUP_SERVICE_URL") .. "/v1/forward-auth"
local authorization = "Token " .. os.getenv("USER_GROUP_SERVICE_TOKEN")
-- Also names that a dashboard might read alike: CGI, WSGI and PHP do not distinguish a hyphen from an underscore.
local viewer_header = "^x[^%w]user[^%w]group[^%w]"
local answer_header = "^x%-user%-group%-"

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

core.register_action("forward-auth", { "http-req" }, function(txn)
  local headers = txn.http:req_get_headers()
  for name in pairs(headers) do
    if name:lower():find(viewer_header) then
      txn.http:req_del_header(name)
    end
  end
  local question = { ["authorization"] = { authorization } }
  question["x-user-group-token"] = { viewer_token(headers) }
  question["cookie"] = { join(headers["cookie"], "; ") }
  local answer = core.httpclient():get({ url = url, headers = question, timeout = 10000 })
  if answer.status == 401 then
    txn:set_var("txn.forward_auth", "denied")
  elseif answer.status == 200 then
    for name, values in pairs(answer.headers) do
      if name:lower():find(answer_header) then
        txn.http:req_set_header(name, join(values))
      end
    end
    txn:set_var("txn.forward_auth", "allowed")
  end
end, 0)
