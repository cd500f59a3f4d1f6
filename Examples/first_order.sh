#!/usr/bin/env bash
# Orders two fish pies with redis-cli and jq:
#
#     Examples/first_order.sh [VISIT]
#
# The cart and the IDs are made of VISIT, so whoever sends all of it again has ordered once.
set -euo pipefail

visit=${1:-$(date +%s)-$$}
cart=visit-$visit

# One command. An error goes to standard error and ends the script; its first word is its code.
tiffin() { redis-cli -u "${TIFFIN_URL:-redis://127.0.0.1:7379}" --no-auth-warning --raw -e "$@"; }

echo "on the menu:"
tiffin OUTLET.HOME copper-ladle |
    jq -r '.sections[].items[] | select(.model.available and .model.price) | "  \(.id) \(.model.price / 100)"' | head -n 5

# What an earlier run with this VISIT has put into the cart and ordered.
order=$(tiffin CART.QUOTE "$cart" | jq -r '.order // empty')

if [ -z "$order" ]; then
    tiffin CART.ADD "$cart" copper-ladle fish-pie 2 NOTE "no peas" ID "$visit-add" >/dev/null
    quote=$(tiffin CART.QUOTE "$cart")
    jq -r '(.lines[] | "\(.quantity) × \(.name) \(.total / 100)"), "together \(.total / 100) \(.currency)"' <<<"$quote"
    # The order is placed for exactly this, or refused with TOTALCHANGED.
    order=$(tiffin CART.CHECKOUT "$cart" QUOTE "$(jq -r .quote <<<"$quote")" ID "$visit-checkout")
fi

tiffin ORDER.GET "$order" | jq -r '"order \(.order) is \(.status), promised for \(.promisedFor)"'
