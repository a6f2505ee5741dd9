# Calls the service with curl.

call() { # METHOD PATH [JSON]
  curl -sS -w '\n%{http_code}\n' --max-time 10 -X "$1" "$SERVICE_URL$2" \
    -H "Authorization: Token $API_TOKEN" \
    -H 'Content-Type: application/json' ${3:+-d "$3"}
}
