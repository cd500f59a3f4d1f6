#!/usr/bin/env bash
# Orders two fish pies over HTTP, with curl and jq, as a browser does at the store:
#
#     Examples/first_order_http.sh [VISIT]
#
# Whose cart it is stands in the cookie, which is kept in the file VISIT.cookies; and the Idempotency-Keys are made
# of VISIT. So whoever sends all of it again has ordered once.
set -euo pipefail

visit=${1:-$(date +%s)-$$}
store=${TIFFIN_STORE:-http://127.0.0.1:7380}
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# Prints the answer to a request. curl sends it again after a lost connection and after 503, which a key makes
# harmless. An error is a document with a code for programs: it goes to standard error, and the script ends.
tiffin() {
    local status
    status=$(curl -sS --retry 3 --retry-all-errors -b "$visit.cookies" -c "$visit.cookies" -o "$answer" -w '%{http_code}' \
        "${@:2}" "$store/v1/$1")
    if [ "$status" -ge 400 ]; then
        jq -r '"\(.code) \(.detail)"' "$answer" >&2
        return 1
    fi
    cat "$answer"
}

# The path, the key, and the members of the body.
post() { tiffin "$1" -H "Idempotency-Key: $visit-$2" -H 'Content-Type: application/json' -d "$3"; }

# What an earlier run with this VISIT has ordered.
order=$(tiffin orders | jq -r '.orders[0].order // empty')

if [ -z "$order" ]; then
    post cart/lines add '{"outlet":"copper-ladle","item":"fish-pie","quantity":2,"note":"no peas"}' >/dev/null
    quote=$(tiffin cart/quote)
    jq -r '(.lines[] | "\(.quantity) × \(.name) \(.total / 100)"), "together \(.total / 100) \(.currency)"' <<<"$quote"
    # The order is placed for exactly this, or refused with 409 and TOTALCHANGED.
    order=$(post cart/checkout checkout "$(jq -c '{quote}' <<<"$quote")" | jq -r .order)
fi

tiffin "orders/$order" | jq -r '"order \(.order) is \(.status), promised for \(.promisedFor)"'
