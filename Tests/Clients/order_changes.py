"""Orders that are changed and given back, in plain Python: the sections "Giving back" and "Changing an order" of
docs/ordering.md, with quotes.py for what a quote has.

An `Order` takes what clients send and read: the documents of OUTLET.PUT, MENU.PUT, ORDER.GET and ORDER.CHANGE.
"""

import copy

import quotes


class Refused(Exception):
    """What the server does not take, with its code."""


class Order:
    def __init__(self, outlet, document):
        """An order as it was placed, with its outlet as it was then."""
        self.outlet = copy.deepcopy(outlet)
        self.service = document.get("service")
        self.missing = document.get("missing", "ask")
        self.lines, self.charges, self.total = document["lines"], document["charges"], document["total"]
        # How many of each line were given back, and how much: the money, and of each tax its base and itself.
        self.units = {}
        self.given = {"money": 0}

    # Changing

    def changed(self, menu, document):
        """The bill after a change: its lines, its charges and its total."""
        edits = {edit["line"]: edit.get("quantity", 0) for edit in document.get("lines", [])}
        arrivals = [edit["by"] for edit in document.get("lines", []) if "by" in edit] + document.get("add", [])
        taxes = [charge for charge in self.charges if charge["kind"] == "tax"]
        lines, billed = [], []
        for place, line in enumerate(self.lines):
            quantity = edits.get(line["line"], line["quantity"])
            if quantity == 0:
                continue
            total = quantity * line["unitPrice"]
            lines.append({key: value for key, value in line.items() if key != "refunded"}
                         | {"quantity": quantity, "total": total})
            parts = [(tax["bases"][place], tax["id"]) for tax in taxes if tax["bases"][place]]
            billed.append((total, parts or [(1, None)]))
        taken = {line["line"] for line in self.lines}
        items = {item["id"]: item for section in menu["sections"] for item in section["items"]}
        for arrival in arrivals:
            chosen = units_of(arrival.get("options", ""))
            price, options, parts = quotes.price_of_one(menu, items[arrival["item"]], chosen, self.service)
            total = arrival["quantity"] * price
            id = "+".join([arrival["item"], *(
                option["id"] + (f"*{option['units']}" if option["units"] > 1 else "") for option in options)])
            id = next(name for name in [id, *(f"{id}~{n}" for n in range(2, 102))] if name not in taken)
            taken.add(id)
            lines.append({
                "line": id, "item": arrival["item"], "name": items[arrival["item"]]["name"],
                "quantity": arrival["quantity"], "unitPrice": price, "options": options, "note": None, "total": total})
            billed.append((total, parts))
        if not lines:
            raise Refused("STATE")
        tip = sum(charge["amount"] for charge in self.charges if charge["kind"] == "tip")
        charges = [
            charge for charge in quotes.charges(self.outlet, billed, tip, self.service)
            if charge["kind"] != "tax" or charge["base"]]
        total = sum(line["total"] for line in lines) + sum(
            charge["amount"] for charge in charges if not charge["included"])
        left = columns(total, charges)
        if any(amount > left.get(column, 0) for column, amount in self.given.items()):
            raise Refused("LIMIT")
        kept = {line["line"]: line["quantity"] for line in lines}
        if any(units > kept.get(line, 0) for line, units in self.units.items()):
            raise Refused("LIMIT")
        return lines, charges, total

    def outcome(self, document, by, bill):
        """What comes of a proposal: it waits, or the order is changed or cancelled at once."""
        takes, puts, adds = document.get("lines"), any("by" in edit for edit in document["lines"]), document.get("add")
        if by != "merchant" or not takes:
            return "proposed"
        if self.missing == "cancel":
            return "cancelled"
        rises = bill[2] > self.total
        if adds or rises or self.missing == "ask" or puts and self.missing == "remove":
            return "proposed"
        return "changed"

    def take(self, bill):
        self.lines, self.charges, self.total = bill

    # Giving back

    def worth(self, place):
        """What a line came to: its money, and of each tax its base and itself."""
        line = self.lines[place]
        service = next((charge for charge in self.charges if charge["kind"] == "service"), None)
        share = service["shares"][place] if service else 0
        worth = {"money": line["total"] + share}
        for tax in self.charges:
            if tax["kind"] != "tax":
                continue
            for name, amounts in (("base", tax["bases"]), ("tax", tax["shares"])):
                amount = amounts[place]
                # Service is the first charge, behind the lines.
                if service:
                    amount += quotes.shares(amounts[len(self.lines)], service["shares"])[place]
                worth[name, tax["id"]] = amount
            if not tax["included"]:
                worth["money"] += worth["tax", tax["id"]]
        return worth

    def units_worth(self, place, first, last):
        quantity = self.lines[place]["quantity"]
        return {column: part(amount, last, quantity) - part(amount, first, quantity)
                for column, amount in self.worth(place).items()}

    def refund(self, what):
        """Gives back units of a line, as (line, quantity), an amount, or the rest, which is None."""
        left = {column: max(0, amount - self.given.get(column, 0))
                for column, amount in columns(self.total, self.charges).items()}
        cost = dict.fromkeys(left, 0)
        for place, line in enumerate(self.lines):
            for column, amount in self.units_worth(
                    place, self.units.get(line["line"], 0), line["quantity"]).items():
                cost[column] += amount
        on_lines = {column: min(amount, cost[column]) for column, amount in left.items()}
        if left["money"] <= cost["money"]:
            on_lines = left
        given = dict(left)
        if isinstance(what, int):
            if 0 < left["money"] < what:
                raise Refused("LIMIT")
            beside = {column: amount - on_lines[column] for column, amount in left.items()}
            first = min(what, beside["money"])
            given = {column: part(beside[column], first, beside["money"])
                     + part(on_lines[column], min(what - first, on_lines["money"]), on_lines["money"])
                     for column in left}
        elif what:
            id, quantity = what
            (place,) = [place for place, line in enumerate(self.lines) if line["line"] == id]
            before = self.units.get(id, 0)
            if before + quantity > self.lines[place]["quantity"]:
                raise Refused("LIMIT")
            wanted = self.units_worth(place, before, before + quantity)
            given = {column: part(on_lines[column], wanted[column], cost[column]) for column in left}
        if left["money"] == 0:
            raise Refused("LIMIT")
        if given["money"] == left["money"]:
            given = left
        if what and not isinstance(what, int):
            self.units[what[0]] = self.units.get(what[0], 0) + what[1]
        for column, amount in given.items():
            if amount:
                self.given[column] = self.given.get(column, 0) + amount

    def shown(self):
        """What ORDER.GET says of its money."""
        lines = [line | ({"refunded": self.units[line["line"]]} if line["line"] in self.units else {})
                 for line in self.lines]
        return {"lines": lines, "charges": self.charges, "total": self.total, "refunded": self.given["money"],
                "refundedTax": sum(amount for column, amount in self.given.items() if column[0] == "tax")}


def columns(total, charges):
    """The money of a bill, and of each tax its base and itself."""
    found = {"money": total}
    for charge in charges:
        if charge["kind"] == "tax":
            found["base", charge["id"]], found["tax", charge["id"]] = charge["base"], charge["amount"]
    return found


def part(amount, some, whole):
    return quotes.half_up(amount * some, whole) if whole else 0


def units_of(options):
    """Units by the ids of options, of words such as `large,cheese*2`."""
    words = [word.partition("*") for word in options.split(",") if word]
    return {id: int(units or 1) for id, _, units in words}
