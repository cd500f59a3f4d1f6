#!/usr/bin/env python3
"""Checks the proof of an order: that its events are in Tiffin's log, and that its bill, its changes and what was given back
of it follow from them. ordering.md has the rules, audit.md the format.

PROOF is a file with the answer of ORDER.PROVE, or - for standard input. --head, --log and --witness are as those of
check_receipt.py, which has to lie beside this file.
Exit status: 0 everything holds, 1 something does not, 2 wrong options, 3 something cannot be read.
"""
import argparse
import importlib.util
import json
import os
import struct
import sys

specification = importlib.util.spec_from_file_location(
    "check_receipt", os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_receipt.py"))
receipts = importlib.util.module_from_spec(specification)
specification.loader.exec_module(receipts)
expect, safe = receipts.expect, receipts.safe

# What an amount of the log can be.
LIMIT = 10**12


def members(pairs):
    """A JSON object as a dictionary, if each member is there once and no number has a fraction."""
    found = dict(pairs)
    if len(found) != len(pairs) or any(isinstance(value, float) for value in found.values()):
        raise ValueError(f"a member that is there twice, or is no integer: {sorted(name for name, _ in pairs)}")
    return found


def number(part, name, least=-LIMIT):
    value = part[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LIMIT:
        raise ValueError(f"{name} is not a number from {least} to {LIMIT}: {value!r}")
    return value


def numbers(part, name):
    return [number({name: value}, name) for value in part[name]]


def text(part, name):
    if not isinstance(part[name], str):
        raise ValueError(f"{name} is not a text: {part[name]!r}")
    return part[name]


def half_up(amount, divisor):
    return (2 * amount + divisor) // (2 * divisor)


def share(amount, part, whole):
    """So much of an amount as a part is of a whole."""
    return half_up(amount * part, whole) if whole else 0


def shares(amount, weights):
    """An amount by weights: rounded down, and what is left to those that lost most, of equals to the first."""
    whole = sum(weights)
    if whole == 0:
        return [0] * len(weights)
    given = [amount * weight // whole for weight in weights]
    lost = sorted(range(len(weights)), key=lambda place: (-(amount * weights[place] % whole), place))
    for place in lost[:amount - sum(given)]:
        given[place] += 1
    return given


class Bill:
    """Lines, charges and a total as an event has them."""

    def __init__(self, event):
        self.lines, self.charges, self.total = event["lines"], event.get("charges", []), number(event, "total")
        for part, names in [(line, ("line", "name")) for line in self.lines] + [(charge, ("kind",)) for charge in self.charges]:
            for name in (*names, *({"id", "name"} & set(part))):
                text(part, name)
        self.costs = [number(line, "quantity", 1) * number(line, "unitPrice", 0) for line in self.lines]
        self.subtotal = sum(self.costs)
        expect(self.subtotal <= LIMIT, "the lines cost more than an order can")
        # Those that taxes can be on, in their order.
        self.before = [charge for charge in self.charges if charge["kind"] not in ("tax", "tip")]
        self.taxes = [charge for charge in self.charges if charge["kind"] == "tax"]
        self.off = [charge for charge in self.before if charge["kind"] == "discount"]
        # What promotions leave of each line.
        self.left = list(self.costs)
        for charge in self.off:
            parts = numbers(charge, "shares")
            if parts:
                expect(len(parts) == len(self.left), "a discount is not divided among the lines")
                self.left = [left + part for left, part in zip(self.left, parts)]
        self.service = next((charge for charge in self.before if charge["kind"] == "service"), None)

    def fee(self, kind):
        return next((charge for charge in self.before if charge["kind"] == kind), None)

    def check(self, terms, say):
        """Works the bill out again. `terms` are those of the outlet, where they are known."""
        expect(len({line["line"] for line in self.lines}) == len(self.lines), "a line is there twice")
        for line, cost in zip(self.lines, self.costs):
            extras = 0
            for option in line.get("options", []):
                units, free = number(option, "units", 1), number(option, "free", 0)
                expect(free <= units, f"more units of an option of line {line['line']} are free than there are")
                extras += (units - free) * number(option, "price", 0)
            expect(extras <= number(line, "unitPrice"), f"the options of line {line['line']} cost more than it")
            say(f"  {line['quantity']} × {line['name']} at {line['unitPrice']} = {cost}"
                + (f", of each {extras} for options" if extras else ""))
        say(f"  lines together {self.subtotal}")
        kinds = [charge["kind"] for charge in self.charges]
        order = ["discount", "service", "smallOrder", "delivery", "discount", "tax", "tip"]
        place = 0
        for kind in kinds:
            expect(kind in order[place:], f"a charge stands where it cannot: {kind}")
            place = order.index(kind, place) + (kind not in ("discount", "tax"))
        for charge in self.off:
            self.check_discount(charge, say)
        expect(all(left >= 0 for left in self.left), "discounts take off more than a line costs")
        if self.service:
            self.check_service((terms or {}).get("charges", {}).get("service"), terms is not None, say)
        elif terms is not None:
            expect("service" not in terms.get("charges", {}), "the service that the outlet charges is missing")
        for kind in ("smallOrder", "delivery"):
            self.check_fee(kind, terms, say)
        for tax in self.taxes:
            self.check_tax(tax, say)
        if terms is not None:
            self.check_taxed(terms)
        for charge in self.charges:
            if charge["kind"] == "tip":
                expect(charge["shares"] == [], "a tip falls on no line")
                say(f"  tip: {number(charge, 'amount', 1)}")
            expect(charge["kind"] == "tax" or charge["included"] is False, f"{charge['kind']} is in no price")
        total = self.subtotal + sum(number(charge, "amount") for charge in self.charges if not charge["included"])
        expect(total == self.total, f"lines and charges come to {total}, and the total is {self.total}")
        say(f"  total {total}")

    def check_discount(self, charge, say):
        amount, parts = number(charge, "amount"), numbers(charge, "shares")
        expect(amount < 0 and all(part <= 0 for part in parts), "a discount that takes nothing off")
        if parts:
            expect(sum(parts) == amount, "the parts of a discount do not add up to it")
        else:
            fee = self.fee("delivery")
            expect(fee and -amount <= fee["amount"], "a discount takes off more than the delivery costs")
        say(f"  {charge['name']}: {amount} off {'the lines' if parts else 'the delivery'}")

    def check_service(self, term, is_known, say):
        amount, left = number(self.service, "amount", 0), sum(self.left)
        rate = ""
        if is_known:
            expect(term is not None, "service is charged, and the outlet charges none")
            expect(amount == half_up(left * number(term, "rate", 0), 100_000), "service is not its part of the lines")
            rate = f"{percent(term['rate'])} of {left} = "
        expect(numbers(self.service, "shares") == shares(amount, self.left), "service is not divided as the lines cost")
        say(f"  service: {rate}{amount}")

    def check_fee(self, kind, terms, say):
        charge = self.fee(kind)
        if terms is not None:
            term = terms.get("charges", {}).get(kind)
            due = term is not None and ("freeFrom" not in term or self.subtotal < number(term, "freeFrom"))
            expect(due == (charge is not None), f"the fee {kind} is {'missing' if due else 'charged, and not due'}")
            expect(not due or charge["amount"] == number(term, "fee", 0), f"the fee {kind} is another than the outlet's")
        if charge:
            expect(charge["shares"] == [], f"the fee {kind} falls on no line")
            say(f"  {kind}: {number(charge, 'amount', 0)}")

    def check_tax(self, tax, say):
        amount, places = number(tax, "amount", 0), len(self.lines) + len(self.before)
        parts = numbers(tax, "shares")
        expect(len(parts) == places and sum(parts) == amount and min(parts) >= 0, f"the parts of tax {tax['id']} do not add up to it")
        how = "included in the prices" if tax["included"] else "on top"
        if "bases" not in tax:  # It was recorded before taxes had their rates.
            return say(f"  {tax.get('name', tax['id'])}: {amount}, {how}; what it was taken of is not recorded")
        bases, base, rate = numbers(tax, "bases"), number(tax, "base", 0), number(tax, "rate", 0)
        expect(len(bases) == places and sum(bases) == base and min(bases) >= 0, f"what tax {tax['id']} is on does not add up")
        worked = half_up(base * rate, 100_000 + (rate if tax["included"] else 0))
        expect(amount == worked, f"tax {tax['id']} on {base} is {worked}, not {amount}")
        expect(parts == shares(amount, bases), f"tax {tax['id']} is not divided as what it is on")
        say(f"  {tax.get('name', tax['id'])}: {percent(rate)} of {base}, {how} = {amount}")

    def check_taxed(self, terms):
        """Each line and charge is taxed once, with the rates of the outlet."""
        known = {tax["id"]: tax for tax in terms.get("taxes", [])}
        for tax in self.taxes:
            expect(tax["id"] in known and tax["rate"] == known[tax["id"]]["rate"]
                   and tax["included"] == terms["taxIncluded"], f"the outlet has another tax {tax['id']}")
        expect(len({tax["id"] for tax in self.taxes}) == len(self.taxes), "a tax is there twice")
        for place, left in enumerate(self.left):
            taxed = sum(tax["bases"][place] for tax in self.taxes)
            expect(taxed == (left if known else 0), f"of line {self.lines[place]['line']} {taxed} is taxed, not {left}")
        for place, charge in enumerate(self.before, len(self.lines)):
            term = terms.get("charges", {}).get(charge["kind"], {}).get("tax")
            left = 0 if charge["kind"] == "discount" else charge["amount"]
            if charge["kind"] == "delivery":
                left += sum(one["amount"] for one in self.off if not one["shares"])
            for tax in self.taxes:
                expect(tax["bases"][place] == (left if tax["id"] == term else 0), f"{charge['kind']} is taxed otherwise")
            expect(term is None or left == 0 or term in {tax["id"] for tax in self.taxes}, f"{charge['kind']} is not taxed")

    def columns(self):
        """The money of the bill, and of each tax its amount and what it is on."""
        found = {"money": self.total}
        for tax in self.taxes:
            found["tax", tax["id"]] = tax["amount"]
            if "bases" in tax:
                found["base", tax["id"]] = tax["base"]
        return found

    def worth(self, place):
        """The same of a line: what is left of it, its share of service, and the taxes on both."""
        parts = self.service["shares"] if self.service else []
        worth = {"money": self.left[place] + (parts[place] if parts else 0)}
        for tax in self.taxes:
            for name, amounts in (("tax", tax["shares"]), ("base", tax.get("bases"))):
                if amounts is None:
                    continue
                worth[name, tax["id"]] = amounts[place]
                if self.service:
                    on_service = amounts[len(self.lines) + self.before.index(self.service)]
                    worth[name, tax["id"]] += shares(on_service, parts)[place]
            if not tax["included"]:
                worth["money"] += worth["tax", tax["id"]]
        return worth


def percent(rate):
    return f"{rate / 1000:g} %"


class Order:
    """An order, event by event."""

    def __init__(self, placed, say):
        self.say, self.terms, self.bill = say, placed.get("pricing"), Bill(placed)
        self.given, self.units = {"money": 0}, {}
        self.payments = dict.fromkeys(("authorised", "captured", "voided", "refunded", "chargedBack", "failed"), 0)
        self.has_ended, self.is_exact = False, True
        say(f"placed with outlet {text(placed, 'outlet')}; all amounts are in minor units of {text(placed, 'currency')}")
        if self.terms is None:
            say("  the outlet's taxes and charges are not recorded with the order: its bill is checked without them")
        self.bill.check(self.terms, say)

    def take(self, kind, event):
        if kind == "order.changed":
            self.change(event)
        elif kind == "order.paymentReported":
            self.payments[event["state"]] += number(event, "amount", 0)
            self.say(f"reported: {event['amount']} {event['state']} as {text(event, 'ref')}")
        elif kind == "order.refunded":
            self.refund(event)
        elif kind in ("order.rejected", "order.cancelled"):
            expect("total" not in event or event["total"] == self.bill.total, "it ends with another total than it had")
            self.has_ended = True
            self.say(f"{kind.partition('.')[2]} by the {text(event, 'by')}: {self.bill.total} is not charged any more")

    def change(self, event):
        before, self.bill = self.bill, Bill(event)
        self.say(f"changed, as the {text(event, 'by')} proposed")
        old = {line["line"]: line for line in before.lines}
        new = {line["line"]: line for line in self.bill.lines}
        edits = {edit["line"]: edit for edit in event["change"]}
        expect(len(edits) == len(event["change"]), "a change of a line that is there twice")
        for line in old.keys() | new.keys():
            was, now = (lines[line]["quantity"] if line in lines else 0 for lines in (old, new))
            said = (edits[line]["from"], edits[line]["to"]) if line in edits else (was, was)
            expect((was, now) == said, f"line {line} is changed otherwise than the change says")
            expect(not was or now <= was, f"there is more of line {line} than before")
            expect(not was or not now or old[line]["unitPrice"] == new[line]["unitPrice"], f"line {line} costs something else")
        expect(all(line in old or line in new for line in edits), "a line is changed that is not there")
        self.bill.check(self.terms, self.say)
        if self.is_exact:
            left = self.bill.columns()
            expect(all(amount <= left.get(column, 0) for column, amount in self.given.items()),
                   "the bill after the change has less than what was given back")
        for line, units in self.units.items():
            expect(line in new and units <= new[line]["quantity"], f"less is left of line {line} than was given back")

    def refund(self, event):
        """Works out again what is given back, and of which taxes."""
        money = number(event, "amount", 0)
        expect(self.given["money"] + money <= self.bill.total, "more is given back than the order cost")
        if "tax" in event or not self.is_exact:
            self.is_exact = False
            self.given["money"] += money
            return self.say(f"given back: {money}; its taxes were recorded together, and are not worked out")
        left = {column: max(0, amount - self.given.get(column, 0)) for column, amount in self.bill.columns().items()}
        cost = dict.fromkeys(left, 0)
        for place, line in enumerate(self.bill.lines):
            for column, amount in self.part(place, self.back(line), line["quantity"]).items():
                cost[column] += amount
        on_lines = {column: min(amount, cost[column]) for column, amount in left.items()}
        if left["money"] <= cost["money"]:
            on_lines = left
        what = "of whatever"
        if "line" in event:
            units = number(event, "quantity", 1)
            place = next((n for n, line in enumerate(self.bill.lines) if line["line"] == event["line"]), None)
            expect(place is not None, f"there is no line {event['line']}")
            line = self.bill.lines[place]
            first = self.back(line)
            expect(first + units <= line["quantity"], f"more of line {line['line']} is given back than there is")
            wanted = self.part(place, first, first + units)
            given = {column: share(on_lines[column], wanted[column], cost[column]) for column in left}
            self.units[line["line"]] = first + units
            what = f"{units} × {line['name']}"
        else:
            beside = {column: amount - on_lines[column] for column, amount in left.items()}
            first = min(money, beside["money"])
            given = {
                column: share(beside[column], first, beside["money"])
                + share(on_lines[column], min(money - first, on_lines["money"]), on_lines["money"]) for column in left}
        if given["money"] == left["money"]:
            given = left
        expect(given["money"] == money, f"what is given back comes to {given['money']}, not to {money}")
        taxes = {}
        for tax in event.get("taxes", []):
            taxes["tax", tax["id"]] = number(tax, "amount", 0)
            if "base" in tax:
                taxes["base", tax["id"]] = number(tax, "base", 0)
            rates = [charge.get("rate") for charge in self.bill.taxes if charge["id"] == tax["id"]]
            expect(rates == [tax.get("rate")], f"tax {tax['id']} is given back at another rate")
        for column in given.keys() | taxes.keys():
            if column != "money":
                expect(taxes.get(column, 0) == given.get(column, 0),
                       f"of {' '.join(column)} {given.get(column, 0)} is to be given back, not {taxes.get(column, 0)}")
        for column, amount in given.items():
            self.given[column] = self.given.get(column, 0) + amount
        of_it = ", ".join(f"{amount} {column[1]}" for column, amount in taxes.items() if column[0] == "tax")
        self.say(f"given back: {what} = {money}" + (f", of it taxes {of_it}" if of_it else ""))

    def back(self, line):
        return min(self.units.get(line["line"], 0), line["quantity"])

    def part(self, place, first, last):
        """Units of a line after others: the first n come to n parts of the line, rounded half up."""
        quantity = self.bill.lines[place]["quantity"]
        return {column: share(amount, last, quantity) - share(amount, first, quantity)
                for column, amount in self.bill.worth(place).items()}

    def end(self):
        price = 0 if self.has_ended else self.bill.total - self.given["money"]
        paid = self.payments["captured"] - self.payments["refunded"] - self.payments["chargedBack"]
        self.say(f"in the end: {self.bill.total} for the order, {self.given['money']} of it given back"
                 + (", and nothing is charged" if self.has_ended else f": it costs {price}"))
        if any(self.payments.values()):
            self.say(f"reported: {self.payments['captured']} was paid, and "
                     f"{self.payments['refunded'] + self.payments['chargedBack']} of it came back: the outlet has {paid}")
            if paid < 0:
                self.say("in doubt: more came back than was paid")
            elif paid > price:
                self.say(f"the outlet owes the customer {paid - price}")


def check_order(proof, known, keys=(), tell=print):
    """Checks every receipt of a proof, that they are the order's events in one log, and what these say."""
    if set(proof) != {"proof", "order", "receipts"}:
        raise ValueError(f"the proof has other fields than it should: {sorted(proof)}")
    expect(proof["proof"] == 1, "this is a proof of another version")
    expect(proof["receipts"], "there is no event")
    first = proof["receipts"][0]
    for place, receipt in enumerate(proof["receipts"], 1):
        end, signers = receipts.verify(receipt, known, None, keys)
        event = receipt["event"]
        expect("tree" in receipt and all(receipt[name] == first[name] for name in ("receipt", "partitions"))
               and all(receipt["tree"][name] == first["tree"][name] for name in ("size", "root"))
               and receipt.get("signedHead") == first.get("signedHead"), "the receipts are not of one tree")
        expect(event["stream"] == f"order-{proof['order']}" and event["version"] == place,
               f"receipt {place} is not that of event {place} of the order")
        expect(place == 1 or event["position"] > proof["receipts"][place - 2]["event"]["position"],
               f"event {place} does not come after the one before it")
    lines = []
    for receipt in proof["receipts"]:
        event = receipt["event"]
        payload = json.loads(event["payload"], object_pairs_hook=members)
        expect((event["kind"] == "order.placed") == (event["version"] == 1), "the order is not placed first, and once")
        if event["version"] == 1:
            order = Order(payload, lambda line: lines.append(safe(line)))
        else:
            order.take(event["kind"], payload)
    order.end()
    count = len(proof["receipts"])
    tell(safe(f"proven: the {count} event{'s' * (count > 1)} of order {proof['order']} {'are' if count > 1 else 'is'} in "
              f"{end}{signers}"))
    for line in lines:
        tell(f"  {line}")
    tell("that the order did not go on after that, only the log shows")
    if not known and not keys:
        tell("compared with no head: this holds of the log with this root, and --head shows whether that is yours")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proof")
    parser.add_argument("--head")
    for name in ("--log", "--witness"):
        parser.add_argument(name, action="append", default=[])
    options = parser.parse_args()
    try:
        known = options.head and receipts.digest(options.head)
        keys = [receipts.Key(text) for text in options.log + options.witness]
        with open(0 if options.proof == "-" else options.proof, encoding="utf-8") as file:
            check_order(json.load(file, object_pairs_hook=receipts.members), known, keys)
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError, struct.error) as problem:
        print(safe(f"cannot be read: {problem!r}"), file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
