"""What carts cost, and when they can be had, in plain Python: the sections "How a total is worked out" and "Orders for
later" of docs/ordering.md, and nothing else.

`quote` takes what clients send and read: the documents of OUTLET.PUT and MENU.PUT, and the lines of a cart. `slots` and
`refusal` take that of OUTLET.PUT, and moments.
"""

import datetime
import zoneinfo


class Refused(Exception):
    """A choice that cannot be."""


def half_up(a, d):
    return (2 * a + d) // (2 * d)


def by_bytes(id):
    return id.encode()


def open_groups(menu, item, chosen):
    groups = {group["id"]: group for group in menu.get("groups", [])}
    opened = [groups[id] for id in item.get("options", [])]
    for group in opened:  # It grows meanwhile.
        for option in group["options"]:
            if option["id"] in chosen:
                for id in option.get("groups", []):
                    if groups[id] not in opened:
                        opened.append(groups[id])
    return opened


SERVICES = ("pickup", "delivery", "table")


def service_of(outlet, chosen):
    """How a cart's order is had: as was chosen, or the first way that the outlet offers, or None."""
    return chosen or next((name for name in SERVICES if name in outlet.get("services", {})), None)


def said(outlet, service, field):
    """What holds for orders that are had in a way: what it says itself, and else what the outlet says."""
    own = outlet.get("services", {}).get(service, {})
    return own[field] if own.get(field) is not None else outlet.get(field)


def price_of_one(menu, item, chosen, service=None):
    """The price of one of the item, its options as a line shows them, and its parts: what each is worth, and the tax that
    it names or None. `chosen` has units by the ids of options."""
    opened = open_groups(menu, item, chosen)
    options = {option["id"]: option for group in opened for option in group["options"]}
    for id, units in chosen.items():
        if id not in options or not 1 <= units <= options[id].get("max", 1):
            raise Refused(id)
    size = None
    for group in opened:
        units = {option["id"]: chosen[option["id"]] for option in group["options"] if option["id"] in chosen}
        if not group.get("min", 1 if group.get("setsPrice") else 0) <= sum(units.values()) <= group.get("max", 1):
            raise Refused(group["id"])
        if group.get("setsPrice"):
            (size,) = units

    sizes = {option["id"] for group in menu.get("groups", []) if group.get("setsPrice") for option in group["options"]}

    def unit(id):
        prices = options[id].get("prices", {})
        if size in prices:
            return prices[size]
        if service in prices and service not in sizes:
            return prices[service]
        return options[id].get("price", 0)

    if size is None:
        total = item.get("prices", {}).get(service, item["price"])
    else:
        total = unit(size)
    free = dict.fromkeys(chosen, 0)
    for group in opened:
        if group.get("setsPrice"):
            continue
        ids = [option["id"] for option in group["options"] if option["id"] in chosen]
        left = group.get("free", 0)
        for id in sorted(ids, key=lambda id: (unit(id), by_bytes(id))):
            free[id] = min(left, chosen[id])
            left -= free[id]
            total += (chosen[id] - free[id]) * unit(id)
    def tax_of(option):
        if "tax" in option:
            return option["tax"]
        return items[option["item"]].get("tax") if "item" in option else own

    items = {item["id"]: item for section in menu["sections"] for item in section["items"]}
    own = options[size].get("tax", item.get("tax")) if size else item.get("tax")
    base = unit(size) if size else item.get("prices", {}).get(service, item["price"])
    parts = [] if item.get("combo") else [(base, own)]
    for id in sorted(chosen, key=by_bytes):
        if id == size:
            continue
        option = options[id]
        if not item.get("combo"):
            parts.append(((chosen[id] - free[id]) * unit(id), tax_of(option)))
        elif "item" in option:
            parts.append((chosen[id] * price_alone(menu, items[option["item"]], service, unit(id)), tax_of(option)))
        else:
            parts.append((chosen[id] * unit(id), tax_of(option)))
    shown = [
        {"id": id, "name": options[id]["name"], "units": chosen[id], "price": unit(id), "free": free[id]}
        for id in sorted(chosen, key=by_bytes)]
    return total, shown, [part for part in parts if part[0]] or [(1, own)]


def price_alone(menu, item, service, otherwise):
    """What an item costs without options."""
    if "price" in item:
        return item.get("prices", {}).get(service, item["price"])
    groups = {group["id"]: group for group in menu["groups"]}
    sizes = [option for id in item.get("options", []) if groups[id].get("setsPrice") for option in groups[id]["options"]]
    return min(size.get("price", 0) for size in sizes) if sizes else otherwise


def shares(amount, weights):
    whole = sum(weights)
    if whole == 0:
        return [0] * len(weights)
    given = [amount * weight // whole for weight in weights]
    lost = [amount * weight % whole for weight in weights]
    order = sorted(range(len(weights)), key=lambda index: (-lost[index], index))
    for index in order[:amount - sum(given)]:
        given[index] += 1
    return given


def fits(promotion, units):
    """How a promotion of items uses units, each a price, an id of a line and the line's number: what it takes off, what
    each line's given units cost, and the units that it uses."""
    buy, get = promotion.get("buy", 0), promotion.get("get", 1)
    units = sorted(unit for unit in units if unit[0] > 0)
    times = len(units) // (buy + get)
    saved, given = 0, []
    for n in range(times):
        part = units[n * get:(n + 1) * get]
        off = takes_off(promotion, sum(price for price, _, _ in part))
        if "percent" in promotion["give"] or off > 0:
            saved += off
            given.append(part)
    if "percent" in promotion["give"]:
        saved = half_up(sum(unit[0] for part in given for unit in part) * promotion["give"]["percent"], 100_000)
    bought = units[times * get:][:len(given) * buy]
    return min(saved, promotion.get("cap", saved)), [unit for part in given for unit in part], bought


def takes_off(promotion, cost):
    give = promotion["give"]
    if "percent" in give:
        return half_up(cost * give["percent"], 100_000)
    return min(give["amount"], cost) if "amount" in give else max(0, cost - give["price"])


def together(promotions, lines, about, fee):
    """What promotions take off together, as (id, amount, shares)."""
    off = []
    unused = [(price, id, n) for n, (id, price, quantity) in enumerate(lines) for _ in range(quantity)]
    rest = {id: promotion for id, promotion in promotions.items() if promotion["on"] == "items"}
    while True:
        uses = {id: fits(promotion, [unit for unit in unused if about(promotion, unit[2])])
                for id, promotion in rest.items()}
        best = min(uses, key=lambda id: (-uses[id][0], by_bytes(id)), default=None)
        if best is None or uses[best][0] == 0:
            break
        saved, given, bought = uses[best]
        off.append((best, saved, shares(saved, [
            sum(price for price, _, at in given if at == n) for n in range(len(lines))])))
        for unit in given + bought:
            unused.remove(unit)
        del rest[best]
    left = [price * quantity - sum(part[n] for _, _, part in off) for n, (_, price, quantity) in enumerate(lines)]
    for on in ("order", "delivery"):
        costs = {id: [cost if about(promotion, n) else 0 for n, cost in enumerate(left)] if on == "order" else [fee]
                 for id, promotion in promotions.items() if promotion["on"] == on}
        saved = {id: takes_off(promotions[id], sum(costs[id])) for id in costs}
        saved = {id: min(amount, promotions[id].get("cap", amount)) for id, amount in saved.items()}
        best = min(saved, key=lambda id: (-saved[id], by_bytes(id)), default=None)
        if best is not None and saved[best] > 0:
            off.append((best, saved[best], shares(saved[best], costs[best]) if on == "order" else []))
    return off


def discounts(promotions, lines, about, fee, codes=(), service=None):
    """What promotions take off lines, each an id, a price of one and a quantity. `about` says whether a promotion is about
    the line of a number."""
    subtotal = sum(price * quantity for _, price, quantity in lines)
    possible = {
        id: promotion for id, promotion in promotions.items()
        if (promotion.get("code") is None or promotion["code"].upper() in codes)
        and promotion.get("service", service) == service and subtotal >= promotion.get("minimum", 0)}
    best = together({id: one for id, one in possible.items() if not one.get("alone")}, lines, about, fee)
    for id in sorted(possible, key=by_bytes):
        if possible[id].get("alone"):
            other = together({id: possible[id]}, lines, about, fee)
            if sum(amount for _, amount, _ in other) > sum(amount for _, amount, _ in best):
                best = other
    return best


def charges(outlet, lines, tip, service=None, off=(), promotions=None):
    """The charges for lines, each an amount and its parts: what each is worth, and the tax that it names or None. `off`
    is what promotions take off."""
    subtotal = sum(amount for amount, _ in lines)

    def discount(id, amount, parts):
        return charge("discount", -amount, [-part for part in parts]) | {
            "id": id, "name": promotions[id]["title"], "by": promotions[id].get("by", "outlet")}

    on_lines = [one for one in off if one[2]]
    amounts = [amount - sum(parts[n] for _, _, parts in on_lines) for n, (amount, _) in enumerate(lines)]
    lines = [(amount, parts) for amount, (_, parts) in zip(amounts, lines)]
    terms, included = said(outlet, service, "charges") or {}, outlet.get("taxIncluded", False)
    taxes = [tax | {"rate": tax.get("rates", {}).get(service, tax["rate"])} for tax in outlet.get("taxes", [])]
    first = taxes[0]["id"] if taxes else None
    # What each line, and then each charge, adds to the base of each tax.
    listed, bases = [], []
    for amount, parts in lines:
        base = {}
        for share, (_, tax) in zip(shares(amount, [worth for worth, _ in parts]), parts):
            base[tax or first] = base.get(tax or first, 0) + share
        bases.append(base)
    for one in on_lines:
        listed.append(discount(*one))
        bases.append({})
    if share := terms.get("service"):
        amount = half_up(sum(amounts) * share["rate"], 100_000)
        listed.append(charge("service", amount, shares=shares(amount, amounts)))
        bases.append({share.get("tax"): amount})
    for kind in ("smallOrder", "delivery"):
        if (fee := terms.get(kind)) and (fee.get("freeFrom") is None or subtotal < fee["freeFrom"]):
            listed.append(charge(kind, fee["fee"]))
            less = [one for one in off if not one[2] and kind == "delivery"]
            bases.append({fee.get("tax"): fee["fee"] - sum(amount for _, amount, _ in less)})
            for one in less:
                listed.append(discount(*one))
                bases.append({})
    for tax in taxes:
        if any(tax["id"] in base for base in bases):
            weights = [base.get(tax["id"], 0) for base in bases]
            amount = half_up(sum(weights) * tax["rate"], 100_000 + (tax["rate"] if included else 0))
            listed.append({
                "kind": "tax", "id": tax["id"], "name": tax["name"], "rate": tax["rate"], "base": sum(weights),
                "amount": amount, "included": included, "shares": shares(amount, weights), "bases": weights})
    if tip > 0:
        listed.append(charge("tip", tip))
    return listed


def charge(kind, amount, shares=()):
    return {"kind": kind, "amount": amount, "included": False, "shares": list(shares)}


def quote(outlet, menu, cart, tip, chosen=None, promotions=None, codes=()):
    """What a cart costs: its lines in the order of their first units, each an item's id, units by the ids of options, and
    a quantity. `chosen` is what CART.SERVICE said."""
    service = service_of(outlet, chosen)
    items = {item["id"]: item for section in menu["sections"] for item in section["items"]}
    lines, billed = [], []
    for id, units, quantity in cart:
        price, options, parts = price_of_one(menu, items[id], units, service)
        lines.append({
            "item": id, "quantity": quantity, "unitPrice": price, "options": options, "total": quantity * price})
        billed.append((quantity * price, parts))
    subtotal = sum(amount for amount, _ in billed)
    fee = (said(outlet, service, "charges") or {}).get("delivery")
    due = fee["fee"] if fee and (fee.get("freeFrom") is None or subtotal < fee["freeFrom"]) else 0

    def about(promotion, number):
        of, id = promotion.get("of"), lines[number]["item"]
        return of is None or (
            id in of.get("items", ()) or any(tag in of.get("tags", ()) for tag in items[id].get("tags", ()))
            or any(section["id"] in of.get("sections", ()) and items[id] in section["items"]
                   for section in menu["sections"]))

    off = discounts(
        promotions or {}, [("+".join([line["item"], *(
            option["id"] if option["units"] == 1 else f"{option['id']}*{option['units']}" for option in line["options"])]),
            line["unitPrice"], line["quantity"]) for line in lines], about, due, codes, service)
    listed = charges(outlet, billed, tip, service, off, promotions)
    total = subtotal + sum(charge["amount"] for charge in listed if not charge["included"])
    return {
        "lines": lines, "subtotal": subtotal, "charges": listed, "total": total,
        "minimumOrder": said(outlet, service, "minimumOrder"), "service": service}


DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MINUTE = datetime.timedelta(minutes=1)


def moment(zone, day, clock, last=False):
    """When the zone's clocks show a time of a day, or of the day after it: first, or last. If they never do, the moment
    at which they are put forward."""
    hours, minutes = clock.split(":")
    local = datetime.datetime.combine(day, datetime.time()) + datetime.timedelta(hours=int(hours), minutes=int(minutes))
    both = [local.replace(tzinfo=zone, fold=fold).astimezone(datetime.UTC) for fold in (0, 1)]
    real = [moment for moment in both if moment.astimezone(zone).replace(tzinfo=None) == local]
    if real:
        return max(real) if last else min(real)
    low, high = min(both), max(both)
    before = low.astimezone(zone).utcoffset()
    while high - low > datetime.timedelta(seconds=1):
        middle = low + (high - low) // 2
        if middle.astimezone(zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)


def periods(outlet, service, first, last):
    """From when to when it is open: the periods that begin on these days."""
    zone = zoneinfo.ZoneInfo(outlet["timeZone"])
    special = {day["date"]: day["hours"] for day in outlet.get("specialDays", [])}
    found = []
    for number in range((last - first).days + 1):
        day = first + datetime.timedelta(days=number)
        usual = [period for period in said(outlet, service, "hours") or [] if period["day"] == DAYS[day.weekday()]]
        for period in special.get(day.isoformat(), usual):
            opens, closes = moment(zone, day, period["opens"]), moment(zone, day, period["closes"], last=True)
            if opens < closes:
                found.append((opens, closes))
    return found


def all_slots(outlet, service, day):
    """The slots of a day, whoever can have them."""
    zone = zoneinfo.ZoneInfo(outlet["timeZone"])
    step, found = outlet["slots"]["minutes"] * MINUTE, set()
    for slot, closes in periods(outlet, service, day - datetime.timedelta(days=2), day):
        while slot < closes:
            if slot.astimezone(zone).date() == day:
                found.add(slot)
            slot += step
    return sorted(found)


def refusal(outlet, service, time, now):
    """The code of what is said to an order of a service for that time; None if it can be had."""
    zone = zoneinfo.ZoneInfo(outlet["timeZone"])
    days = outlet.get("orderAheadDays", 0)
    day = time.astimezone(zone).date()
    if days == 0 or time <= now or time < now + (said(outlet, service, "prepMinutes") or 0) * MINUTE:
        return "INVALID"
    if (day - now.astimezone(zone).date()).days > days:
        return "INVALID"
    near = periods(outlet, service, day - datetime.timedelta(days=2), day)
    if not any(opens <= time < closes for opens, closes in near):
        return "CLOSED"
    return "NOSLOT" if "slots" in outlet and time not in all_slots(outlet, service, day) else None


def slots(outlet, service, day, now):
    """The slots of a day, as SLOTS answers them."""
    if "slots" not in outlet:
        return []
    zone = zoneinfo.ZoneInfo(outlet["timeZone"])
    return [
        {"at": slot.strftime("%Y-%m-%dT%H:%M:%SZ"), "local": slot.astimezone(zone).isoformat()}
        for slot in all_slots(outlet, service, day) if refusal(outlet, service, slot, now) is None]
