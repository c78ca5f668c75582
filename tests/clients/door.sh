#!/bin/sh
# curl against a live door: door.sh BASE_URL GRANT. Prints the status of a plain answer, then a stream as it comes.
set -eu
ask() {
    curl --silent --show-error --noproxy '*' --max-time 20 --header "Authorization: Bearer $2" \
        --header 'Content-Type: application/json' --data "$3" "$1/v1/chat/completions"
}
ask "$1" "$2" '{"messages":[{"role":"user","content":"hi"}]}' >/dev/null && echo plain
ask "$1" "$2" '{"stream":true,"messages":[{"role":"user","content":"hi"}]}'
