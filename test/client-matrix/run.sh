# Runs a program of this matrix that is shell: requests come as lines on standard input, and answers go as lines to
# standard output; see client.ts.

source "$1"

while IFS=$'\t' read -r method path body; do
  answer=$(call "$method" "$path" "$(base64 -d <<<"$body")" 2>&1)
  printf '%s\t%s\n' "${answer##*$'\n'}" "$(base64 -w0 <<<"${answer%$'\n'*}")"
done
