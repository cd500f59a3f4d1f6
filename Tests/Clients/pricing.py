"""A second model of what carts cost: written from docs/ordering.md, and sharing nothing with the server.

A menu and its carts are lines of numbers for Tests/PricingTool:

    0 included taxes:[rate] service(rate tax) small(fee freeFrom tax) delivery(fee freeFrom tax)
      groups:[min max free setsPrice options:[price prices:[size price] max groups:[group]]]
      items:[price groups:[group] tax]
    1 tip lines:[item options:[option units] quantity]
    2 part, of the order that the cart is: 0 for the rest, 1 with an amount, 2 with a line's number and a quantity

A list is preceded by its length, and -1 stands for what there is not: a service or a fee that there is not is -1 alone.
Options and groups are numbered through the whole menu.
"""

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class Option:
    price: int
    prices: dict = field(default_factory=dict)
    max: int = 1
    groups: list = field(default_factory=list)


@dataclass
class Group:
    min: int
    max: int
    free: int
    sets_price: bool
    options: list  # numbers of options


@dataclass
class Item:
    price: int | None
    groups: list
    tax: int | None


@dataclass
class Menu:
    included: bool
    taxes: list  # rates in thousandths of a percent
    service: tuple | None  # rate, tax
    small: tuple | None  # fee, free from, tax
    delivery: tuple | None
    options: list
    groups: list
    items: list


def half_up(amount):
    """The nearest whole number; of two equally near, the greater."""
    return (2 * amount.numerator + amount.denominator) // (2 * amount.denominator)


def shares(amount, weights):
    """The amount by weight, by largest remainder, of equals the first."""
    total = sum(weights)
    if total == 0:
        return [0] * len(weights)
    exact = [Fraction(amount * weight, total) for weight in weights]
    parts = [part.numerator // part.denominator for part in exact]
    order = sorted(range(len(parts)), key=lambda index: (parts[index] - exact[index], index))
    for index in order[: amount - sum(parts)]:
        parts[index] += 1
    return parts


def unit_price(menu, item, chosen):
    """What one of an item costs with options (number → units), or why it cannot be had."""
    home = {option: number for number, group in enumerate(menu.groups) for option in group.options}
    open_groups = list(item.groups)
    for number in open_groups:
        for option in menu.groups[number].options:
            if option in chosen:
                open_groups += [nested for nested in menu.options[option].groups if nested not in open_groups]
    for option in sorted(chosen, key=lambda number: f"o{number}"):
        if home.get(option) not in open_groups:
            return "gone"
        if chosen[option] > menu.options[option].max:
            return "many"
    for number in open_groups:
        group = menu.groups[number]
        if not group.min <= sum(chosen.get(option, 0) for option in group.options) <= group.max:
            return "units"
    sizes = [option for option in chosen if menu.groups[home[option]].sets_price]
    size = sizes[0] if sizes else None
    price = menu.options[size].price if sizes else item.price
    for number in open_groups:
        group = menu.groups[number]
        if group.sets_price:
            continue
        units = sorted(
            menu.options[option].prices.get(size, menu.options[option].price)
            for option in group.options for _ in range(chosen.get(option, 0))
        )
        price += sum(units[group.free:])
    return price


@dataclass
class Bill:
    subtotal: int
    total: int
    charges: list  # (name, amount, shares)
    fees: list  # (name, amount, tax, shares)
    taxes: list  # (number, amount, shares, what each line and fee is taxed on)

    def words(self, menu):
        """Subtotal, total, and every charge with its shares."""
        words = ["=", self.subtotal, self.total]
        bases = {number: sum(base) for number, _, _, base in self.taxes}
        numbers = iter(bases)
        for name, amount, parts in self.charges:
            words += [name, amount]
            if name == "tax":
                number = next(numbers)
                words += [menu.taxes[number], "of", bases[number]]
            words += parts
        return words


def bill(menu, lines, tip):
    """What lines cost with everything that is charged. A line is (amount, tax)."""
    amounts = [amount for amount, _ in lines]
    subtotal = sum(amounts)
    fees = []
    if menu.service:
        rate, tax = menu.service
        amount = half_up(Fraction(subtotal * rate, 100_000))
        fees.append(("service", amount, tax, shares(amount, amounts)))
    for name, fee in (("smallOrder", menu.small), ("delivery", menu.delivery)):
        if fee and (fee[1] is None or subtotal < fee[1]):
            fees.append((name, fee[0], fee[2], []))
    charges = [(name, amount, parts) for name, amount, _, parts in fees]
    total = subtotal + sum(amount for _, amount, _ in charges)
    taxes = []
    for number, rate in enumerate(menu.taxes):
        taxed = [tax == number if tax is not None else number == 0 for _, tax in lines]
        taxed += [tax == number for _, _, tax, _ in fees]
        if not any(taxed):
            continue
        base = [amount if is_taxed else 0
                for amount, is_taxed in zip(amounts + [amount for _, amount, _, _ in fees], taxed)]
        tax = half_up(Fraction(sum(base) * rate, 100_000 + rate if menu.included else 100_000))
        charges.append(("tax", tax, shares(tax, base)))
        taxes.append((number, tax, shares(tax, base), base))
        if not menu.included:
            total += tax
    if tip > 0:
        charges.append(("tip", tip, []))
        total += tip
    return Bill(subtotal, total, charges, fees, taxes)


class Refunds:
    """What an order gives back, by docs/ordering.md. What there is to give is a list: the money, and for each tax what
    it was taken of, and the tax."""

    def __init__(self, menu, lines, quantities, charged):
        self.names = [f"t{number}" for number, *_ in charged.taxes]
        self.quantities = quantities
        self.left = [charged.total]
        for _, amount, _, base in charged.taxes:
            self.left += [sum(base), amount]
        service = next((parts for name, _, _, parts in charged.fees if name == "service"), [0] * len(lines))
        has_service = any(name == "service" for name, *_ in charged.fees)
        self.lines = []
        for number, (amount, _) in enumerate(lines):
            worth = [amount + service[number]]
            for _, _, parts, base in charged.taxes:
                # Service is the first fee, behind the lines.
                taxed, tax = base[number], parts[number]
                if has_service:
                    taxed += shares(base[len(lines)], service)[number]
                    tax += shares(parts[len(lines)], service)[number]
                worth += [taxed, tax]
                if not menu.included:
                    worth[0] += tax
            self.lines.append(worth)
        self.back = [0] * len(lines)

    def units(self, line, first, last):
        """What the units of a line from one up to another cost."""
        def up_to(units):
            return [half_up(Fraction(amount * units, self.quantities[line])) for amount in self.lines[line]]
        return [late - early for early, late in zip(up_to(first), up_to(last))]

    def refund(self, part):
        """The answer for a part: (0,), (1, amount) or (2, line, quantity)."""
        remaining = [self.units(line, back, self.quantities[line]) for line, back in enumerate(self.back)]
        cost = [sum(amounts) for amounts in zip(*remaining)] or [0] * len(self.left)
        # Where more is left than the lines cost, the rest is beside them: fees, the taxes on them, and the tip.
        whole = self.left[0] > cost[0]
        on_lines = cost if whole else self.left

        def in_part(amounts, part, all):
            return [half_up(Fraction(amount * part, all)) if all else 0 for amount in amounts]

        given = list(self.left)
        if part[0] == 1:
            if 0 < self.left[0] < part[1]:
                return "LIMIT"
            beside = [left - line for left, line in zip(self.left, on_lines)]
            first = min(part[1], beside[0])
            given = [fee + line for fee, line in zip(
                in_part(beside, first, beside[0]), in_part(on_lines, part[1] - first, on_lines[0]))]
        elif part[0] == 2:
            _, line, quantity = part
            if self.back[line] + quantity > self.quantities[line]:
                return "LIMIT"
            wanted = self.units(line, self.back[line], self.back[line] + quantity)
            if whole:
                given = wanted
            else:
                given = [half_up(Fraction(left * units, all)) if all else 0
                         for left, units, all in zip(self.left, wanted, cost)]
        if self.left[0] == 0:
            return "LIMIT"
        # The last of the money comes with the last of every tax.
        if given[0] == self.left[0]:
            given = list(self.left)
        if part[0] == 2:
            self.back[part[1]] += part[2]
        self.left = [left - amount for left, amount in zip(self.left, given)]
        words = [given[0]]
        for name, base, tax in zip(self.names, given[1::2], given[2::2]):
            if base or tax:
                words += [name, base, tax]
        return " ".join(map(str, words))


def priced(menu, cart):
    """The answer for a cart: (tip, [(item, {option: units}, quantity)]), and what its order can give back."""
    tip, ordered = cart
    words, lines, quantities = [], [], []
    for number, chosen, quantity in ordered:
        item = menu.items[number]
        price = unit_price(menu, item, chosen)
        words.append(price)
        if isinstance(price, int):
            lines.append((price * quantity, item.tax))
            quantities.append(quantity)
    charged = bill(menu, lines, tip)
    return (" ".join(str(word) for word in words + charged.words(menu)), Refunds(menu, lines, quantities, charged))


# Random menus and carts

def random_menu(random):
    options, groups, sizes = [], [], []

    def add_group(sets_price=False, nested=()):
        count = random.randint(1, 5)
        numbers = list(range(len(options), len(options) + count))
        for _ in numbers:
            options.append(Option(
                price=random.choice([0, 1, 50, 99, 100, random.randrange(3_000)]),
                prices={} if sets_price else {
                    size: random.randrange(500) for size in sizes if random.random() < 0.3},
                max=1 if sets_price else random.choice([1, 1, 2, 5]),
                groups=[] if sets_price else sorted(group for group in nested if random.random() < 0.3)))
        most = sum(options[number].max for number in numbers)
        top = 1 if sets_price else random.randint(1, min(most, 6))
        least = 1 if sets_price else random.choice([0, 0, 0, 1, top])
        groups.append(Group(least, top, 0 if sets_price else random.choice([0, 0, 1, top]), sets_price, numbers))
        return len(groups) - 1

    size_groups = []
    for _ in range(random.randint(0, 2)):
        number = add_group(sets_price=True)
        size_groups.append(number)
        sizes += groups[number].options
    third = [add_group() for _ in range(random.randint(0, 2))]
    second = [add_group(nested=third) for _ in range(random.randint(0, 2))]
    first = [add_group(nested=second + third) for _ in range(random.randint(0, 3))]
    taxes = [random.choice([0, 5_000, 8_875, 10_000, 20_000, random.randrange(100_001)])
             for _ in range(random.randint(0, 3))]

    def tax():
        return random.choice([None, *range(len(taxes))])

    def fee():
        if random.random() < 0.5:
            return None
        return random.randrange(600), random.choice([None, 0, 1_000, 2_500]), tax()

    items = []
    for _ in range(random.randint(1, 5)):
        own = [group for group in first + second + third if random.random() < 0.4]
        has_sizes = size_groups and random.random() < 0.5
        if has_sizes:
            own.insert(random.randint(0, len(own)), random.choice(size_groups))
        items.append(Item(None if has_sizes else random.randrange(5_000), own, tax()))
    service = (random.randrange(30_000), tax()) if random.random() < 0.5 else None
    return Menu(random.random() < 0.5, taxes, service, fee(), fee(), options, groups, items)


def random_cart(random, menu):
    ordered = []
    for _ in range(random.randint(0, 6)):
        number = random.randrange(len(menu.items))
        chosen, level = {}, list(menu.items[number].groups)
        # Mostly what can be had, as whoever taps through an app chooses.
        for group in level:
            group = menu.groups[group]
            for _ in range(random.randint(group.min, group.max)):
                option = random.choice(group.options)
                if chosen.get(option, 0) < menu.options[option].max:
                    chosen[option] = chosen.get(option, 0) + 1
                    level += [nested for nested in menu.options[option].groups if nested not in level]
        if menu.options and random.random() < 0.1:
            chosen[random.randrange(len(menu.options))] = random.randint(1, 6)
        ordered.append((number, chosen, random.randint(1, 99)))
    return random.choice([0, 0, 1, 500]), ordered


def random_refunds(random, order):
    """Parts of an order to give back, in any order, until nothing is left."""
    parts = []
    for line, quantity in enumerate(order.quantities):
        while quantity > 0:
            units = random.randint(1, quantity)
            parts.append((2, line, units))
            quantity -= units
    if random.random() < 0.2 and order.quantities:
        parts.append((2, random.randrange(len(order.quantities)), 100))
    for _ in range(random.choice([0, 0, 1, 3])):
        parts.append((1, random.choice([1, 50, 300, random.randint(1, max(1, order.left[0]))])))
    random.shuffle(parts)
    return [*parts, (0,)]


# Lines for the tool

def listed(values):
    return [len(values), *(word for value in values for word in value)]


def fee_words(fee):
    return [-1] if fee is None else [-1 if word is None else word for word in fee]


def menu_line(menu):
    words = [0, int(menu.included), *listed([[rate] for rate in menu.taxes]),
             *fee_words(menu.service), *fee_words(menu.small), *fee_words(menu.delivery)]
    words += listed([
        [group.min, group.max, group.free, int(group.sets_price), *listed([
            [option.price, *listed(list(option.prices.items())), option.max, *listed([[g] for g in option.groups])]
            for option in (menu.options[number] for number in group.options)])]
        for group in menu.groups])
    words += listed([
        [-1 if item.price is None else item.price, *listed([[group] for group in item.groups]),
         -1 if item.tax is None else item.tax]
        for item in menu.items])
    return " ".join(map(str, words))


def refund_line(part):
    return " ".join(map(str, (2, *part)))


def cart_line(cart):
    tip, ordered = cart
    words = [1, tip, *listed([
        [number, *listed(list(chosen.items())), quantity] for number, chosen, quantity in ordered])]
    return " ".join(map(str, words))
