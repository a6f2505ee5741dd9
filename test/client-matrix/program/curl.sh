# curl

# docs: begin
call() { # METHOD PATH [JSON]
  curl -sS -w '\n%{http_code}\n' -X "$1" "$SERVICE_URL$2" \
    -H "Authorization: Token $API_TOKEN" \
    -H 'Content-Type: application/json' ${3:+-d "$3"}
}
# docs: end

# Requests come as lines on standard input, and answers go as lines to standard output; see ../client.ts.
while IFS=$'\t' read -r method path body; do
  answer=$(call "$method" "$path" "$(base64 -d <<<"$body")" 2>&1)
  printf '%s\t%s\n' "${answer##*$'\n'}" "$(base64 -w0 <<<"${answer%$'\n'*}")"
done
