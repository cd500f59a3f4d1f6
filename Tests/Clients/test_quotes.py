"""A server's quotes are those of a client that knows docs/ordering.md: 10,000 random carts, or as many as
TIFFIN_QUOTED_CARTS says."""

import json
import os
import random
import time

import quotes
from tiffin import ReplyError

CARTS = int(os.environ.get("TIFFIN_QUOTED_CARTS", "10000"))
CARTS_OF_AN_OUTLET = 50
# Far more than it takes: a server that hangs is noticed, and a slow machine is not.
SECONDS = 300


class Scene:
    """An outlet with a menu, and carts to be filled there: documents and words as clients send them."""

    def __init__(self, id, chance):
        self.id, self.chance = id, chance
        self.ids = iter(chance.sample([f"{letter}{n}" for letter in "aBc.D_e:F-z9" for n in range(50)], 600))
        self.taxes = [
            {"id": next(self.ids), "name": f"Tax {n}", "rate": chance.choice([0, 5_000, 8_875, 20_000, chance.randrange(100_001)])}
            for n in range(chance.randint(0, 3))]
        # Half of the outlets offer no ways to choose from, as all did once.
        self.services = chance.sample(quotes.SERVICES, chance.choice([0, 0, 0, 1, 2, 3]))
        for tax in self.taxes:
            tax |= self.by_service(lambda: chance.choice([0, 7_000, 19_000, chance.randrange(100_001)]), "rates")
        self.outlet = {"name": "O", "currency": "EUR", "timeZone": "Europe/Berlin", "charges": self.terms()}
        if self.taxes:
            self.outlet |= {"taxIncluded": chance.random() < 0.5, "taxes": self.taxes}
        if chance.random() < 0.5:
            self.outlet["minimumOrder"] = chance.randrange(5_000)
        if self.services:
            self.outlet["services"] = {name: self.service() for name in self.services}
        self.sizes, self.groups, self.plain = [], [], []
        self.plain = [self.item((), ()) for _ in range(chance.randint(0, 3))]
        sizes = [self.group(sets_price=True) for _ in range(chance.randint(0, 2))]
        third = [self.group() for _ in range(chance.randint(0, 2))]
        second = [self.group(third) for _ in range(chance.randint(0, 2))]
        first = [self.group(second + third) for _ in range(chance.randint(0, 3))]
        self.items = [self.item(sizes, first + second + third) for _ in range(chance.randint(1, 5))] + self.plain
        chance.shuffle(self.groups)
        self.menu = {
            "sections": [{"id": "all", "title": "All", "kind": "menuItems", "items": self.items}], "groups": self.groups}

    def sometimes(self, name, value, likely=0.7):
        """A field that can be left out."""
        return {name: value} if self.chance.random() < likely else {}

    def tax(self):
        return self.sometimes("tax", self.chance.choice(self.taxes)["id"]) if self.taxes else {}

    def by_service(self, value, field="prices", likely=0.3):
        """Values for some services, whether the outlet offers them or not."""
        values = {name: value() for name in quotes.SERVICES if self.chance.random() < likely}
        return {field: values} if values else {}

    def service(self):
        chance = self.chance
        return (self.sometimes("charges", self.terms(), 0.5)
                | self.sometimes("minimumOrder", chance.randrange(5_000), 0.5)
                | self.sometimes("prepMinutes", chance.randrange(90), 0.5))

    def terms(self):
        def fee():
            fee = self.chance.choice([0, self.chance.randrange(600)])
            return {"fee": fee} | self.sometimes("freeFrom", self.chance.choice([0, 1_000, 5_000])) | self.tax()

        service = {"rate": self.chance.choice([0, 12_500, self.chance.randrange(100_001)])} | self.tax()
        return (self.sometimes("service", service, 0.5) | self.sometimes("smallOrder", fee(), 0.5)
                | self.sometimes("delivery", fee(), 0.5))

    def group(self, nested=(), sets_price=False):
        chance = self.chance
        options = []
        for _ in range(chance.randint(1, 5)):
            option = {"id": next(self.ids), "name": "Option"}
            option |= self.sometimes("price", chance.choice([0, 1, 50, 99, 100, 100, chance.randrange(3_000)]))
            if sets_price:
                option |= self.by_service(lambda: chance.randrange(3_000))
            else:
                option |= self.sometimes("max", chance.choice([1, 2, 5]), 0.5)
                prices = {size: chance.randrange(500) for size in self.sizes if chance.random() < 0.3}
                prices |= self.by_service(lambda: chance.randrange(500)).get("prices", {})
                option |= self.sometimes("prices", prices) if prices else {}
                opened = chance.sample(nested, chance.randint(0, len(nested)))
                option |= self.sometimes("groups", opened, 0.4) if opened else {}
                if self.plain and chance.random() < 0.3:
                    option["item"] = chance.choice(self.plain)["id"]
            if chance.random() < 0.2:
                option |= self.tax()
            options.append(option)
        group = {"id": next(self.ids), "title": "Group", "options": options}
        if sets_price:
            group |= {"setsPrice": True, "min": 1}
            self.sizes += [option["id"] for option in options]
        else:
            reach = sum(option.get("max", 1) for option in options)
            group |= self.sometimes("max", chance.randint(1, 6))
            most = group.get("max", 1)
            group |= self.sometimes("min", chance.choice([0, 1, min(most, reach)]), 0.5)
            group |= self.sometimes("free", chance.choice([0, 1, most]), 0.5)
            if chance.random() < 0.3:
                options[0]["default"] = 1
        self.groups.append(group)
        return group["id"]

    def item(self, sizes, groups):
        chance = self.chance
        own = chance.sample(groups, chance.randint(0, len(groups)))
        item = {"id": next(self.ids), "kind": "menuItem", "name": "Item"} | self.tax()
        if sizes and chance.random() < 0.5:
            own.insert(chance.randint(0, len(own)), chance.choice(sizes))
        else:
            item["price"] = chance.choice([0, 333, chance.randrange(5_000), chance.randrange(10**8, 10**9)])
            item |= self.by_service(lambda: chance.choice([0, 333, chance.randrange(5_000)]))
        if own and chance.random() < 0.3:
            item["combo"] = True
        return item | ({"options": own} if own else {})

    def choice(self, item):
        """Units of options, mostly as somebody chooses them who taps through an app, beginning with the defaults."""
        chance, chosen = self.chance, {}
        groups = {group["id"]: group for group in self.groups}
        level = list(item.get("options", []))
        for id in level:
            group, units = groups[id], 0
            for option in group["options"]:
                if option.get("default") and chance.random() < 0.5:
                    chosen[option["id"]] = units = option["default"]
            least = group.get("min", 0)
            for _ in range(chance.randint(least, max(group.get("max", 1), least)) - units):
                option = chance.choice(group["options"])
                if chosen.get(option["id"], 0) < option.get("max", 1):
                    chosen[option["id"]] = chosen.get(option["id"], 0) + 1
            for option in group["options"]:
                if option["id"] in chosen:
                    level += [nested for nested in option.get("groups", []) if nested not in level]
        options = [option["id"] for group in self.groups for option in group["options"]]
        if options and chance.random() < 0.05:
            chosen[chance.choice(options)] = chance.randint(1, 6)
        return chosen if len(chosen) <= 20 else {}

    def cart(self, id):
        """The commands that fill a cart, each with the words of the refusal that it should get, and its quote."""
        chance, lines, commands = self.chance, {}, []
        for _ in range(chance.randint(1, 4)):
            item = chance.choice(self.items)
            chosen, quantity = self.choice(item), chance.randint(1, 9)
            words = [f"{option}*{units}" if units > 1 else option for option, units in chosen.items()]
            chance.shuffle(words)
            try:
                quotes.price_of_one(self.menu, item, chosen)
                refusal = None
                key = (item["id"], frozenset(chosen.items()))
                lines[key] = (item["id"], chosen, quantity + lines.get(key, (0, 0, 0))[2])
            except quotes.Refused:
                refusal = "CHOICE"
            options = ("OPTIONS", ",".join(words)) if words or chance.random() < 0.5 else ()
            commands.append((("CART.ADD", id, self.id, item["id"], quantity, *options), refusal))
        tip = chance.choice([0, 0, 1, 500])
        service = chance.choice([None, *self.services])
        if not lines:
            return commands, None
        if tip or chance.random() < 0.1:
            commands.append((("CART.TIP", id, tip), None))
        if service:
            table = ("TABLE", "4") if service == "table" and chance.random() < 0.5 else ()
            commands.append((("CART.SERVICE", id, service, *table), None))
        return commands, quotes.quote(self.outlet, self.menu, list(lines.values()), tip, service)


def told(quote):
    """What a quote says of money."""
    lines = [
        {key: line[key] for key in ("item", "quantity", "unitPrice", "options", "total")} for line in quote["lines"]]
    return {"lines": lines, "minimumOrder": quote.get("minimumOrder"), "service": quote.get("service")} | {
        key: quote[key] for key in ("subtotal", "charges", "total")}


def test_a_client_that_follows_the_document_agrees_with_every_quote(client, name):
    chance = random.Random(20261125)
    scenes = [Scene(f"{name}-{n}", chance) for n in range(CARTS // CARTS_OF_AN_OUTLET)]
    began = time.monotonic()

    def sent(commands):
        for reply, command in zip(client.pipeline(commands), commands):
            assert not isinstance(reply, ReplyError), (command, reply)

    sent([("OUTLET.PUT", scene.id, json.dumps(scene.outlet)) for scene in scenes])
    sent([("MENU.PUT", scene.id, json.dumps(scene.menu)) for scene in scenes])
    sent([("OUTLET.OPEN", scene.id) for scene in scenes])
    carts = [
        (scene, f"{scene.id}-{n}", *scene.cart(f"{scene.id}-{n}"))
        for scene in scenes for n in range(CARTS_OF_AN_OUTLET)]
    filling = [(scene, command, refusal) for scene, _, commands, _ in carts for command, refusal in commands]
    for reply, (scene, command, refusal) in zip(client.pipeline([command for _, command, _ in filling]), filling):
        code = reply.code if isinstance(reply, ReplyError) else None
        assert code == refusal, (command, reply, scene.menu)
    answers = client.pipeline([("CART.QUOTE", cart) for _, cart, _, _ in carts])
    count = divided = 0
    for answer, (scene, _, _, expected) in zip(answers, carts, strict=True):
        if expected is None:
            assert answer is None
            continue
        answer = json.loads(answer)
        assert told(answer) == expected, (scene.outlet, scene.menu)
        assert answer["quote"] is not None and all(line["problem"] is None for line in answer["lines"])
        count += 1
        taxes = [charge["bases"] for charge in answer["charges"] if charge["kind"] == "tax"]
        divided += any(sum(base > 0 for base in bases) > 1 for bases in list(zip(*taxes))[:len(answer["lines"])])
    # Many have a line with several taxes.
    assert divided > CARTS / 20
    # As many carts are had in a way that can be chosen as in none.
    assert 0.3 < sum(expected is not None and expected["service"] is not None for *_, expected in carts) / CARTS < 0.7
    # Most carts can be had, so this is about prices.
    assert count > CARTS * 0.9
    assert time.monotonic() - began < SECONDS


def test_the_example_of_the_document_holds():
    terms = {"taxIncluded": False, "taxes": [{"id": "t", "name": "T", "rate": 8_875}],
             "charges": {"delivery": {"fee": 99, "tax": "t"}}}
    (_, tax) = quotes.charges(terms, [(333, [(1, None)]), (333, [(1, None)])], 0)
    assert (tax["amount"], tax["shares"]) == (68, [30, 29, 9])
