# Runs a shell program of the matrix: reads requests as lines from standard input, and writes responses as lines to
# standard output; see client.ts.

source "$1"

while IFS=$'\t' read -r method path body; do
  response=$(call "$method" "$path" "$(base64 -d <<<"$body")" 2>&1)
  printf '%s\t%s\n' "${response##*$'\n'}" "$(base64 -w0 <<<"${response%$'\n'*}")"
done
