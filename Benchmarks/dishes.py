"""The catalogue that the browsing sections search: real outlets and dishes if they are next to the checkout.

It is the same in every run and for every contestant. An outlet's items are made from the outlet's id and a seed
when they are needed, so half a million of them are never in memory at once.
"""

import csv
import json
import random
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from tiffin import SHARED_DATA, outlet_document

SEED = 20
OUTLETS = 8_680
ITEMS_PER_SECTION = 60
# Shares of all outlets or items.
CLOSED, SOLD_OUT, DESCRIBED, PROMOTED = 0.10, 0.03, 0.05, 0.01
PRICES = range(2_000, 150_001, 500)
TAGS = {
    "veg": 30, "bestseller": 14, "spicy": 12, "new": 8, "chicken": 7, "egg": 4, "vegan": 4, "gluten-free": 3,
    "healthy": 3, "kids": 3, "combo": 3, "seafood": 2.5, "jain": 2, "halal": 2, "low-calorie": 1.5, "sugar-free": 1,
    "dairy-free": 1, "nut-free": 0.8, "organic": 0.8, "high-protein": 0.8, "keto": 0.5, "chef-special": 0.5,
    "limited": 0.3, "festive": 0.2, "seasonal": 0.1,
}
DESSERT = re.compile(
    r"\b(ice cream|gelato|sundae|cake|cheesecake|cupcake|cookies?|brownie|pie|pudding|donuts?|doughnut|chocolate|fudge|"
    r"custard|sorbet|frozen yogurt|candy|caramel)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Outlet:
    id: str
    name: str
    city: str
    area: str
    address: str
    cuisines: tuple
    price_for_two: int
    rating: int
    """In hundredths."""
    rating_count: int
    delivery_minutes: int
    is_open: bool
    first: int
    """The number of its first item among all."""
    size: int

    def document(self) -> str:
        return json.dumps(outlet_document(
            self.name, city=self.city, area=self.area, address=self.address, currency="INR", timeZone="Asia/Kolkata",
            cuisines=list(self.cuisines), priceForTwo=self.price_for_two, rating=self.rating / 100,
            ratingCount=self.rating_count, deliveryMinutes=self.delivery_minutes))


class Item(NamedTuple):
    number: int
    id: str
    kind: str
    name: str
    description: str | None
    price: int
    cuisine: str | None
    tags: tuple
    is_available: bool

    def document(self, outlet) -> dict:
        image = f"https://images.example.com/{outlet.id}/{self.id}"
        return {
            "id": self.id, "kind": self.kind, "name": self.name, "description": self.description, "price": self.price,
            "cuisine": self.cuisine, "tags": self.tags, "imageSmall": f"{image}-small.jpg",
            "imageLarge": f"{image}-large.jpg",
        }


def text_bytes(document) -> int:
    """The bytes of an item's own text: its id, words and URLs."""
    texts = [document[key] for key in ("id", "name", "description", "cuisine", "imageSmall", "imageLarge")]
    return sum(len(text.encode()) for text in [*texts, *document["tags"]] if text)


def folded(text) -> str:
    """Lower case, without accents, with a space for everything that is not a letter or digit."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()
    return " ".join("".join(c if c.isalnum() else " " for c in plain).split())


def price_band(price) -> int:
    """The lower end of the price's band: 0, 1, 2, 5, 10, 20, 50 …"""
    if price < 1:
        return 0
    power = 10 ** (len(str(price)) - 1)
    return power * (5 if price >= 5 * power else 2 if price >= 2 * power else 1)


class Dishes:
    """`total` items in outlets of very different sizes."""

    def __init__(self, total, outlets=None):
        self.total = total
        rows, self.origin = _outlet_rows()
        self.names = _dish_names()
        chance = random.Random(SEED)
        rows = chance.sample(rows, min(len(rows), outlets or OUTLETS))
        weights = [chance.lognormvariate(0, 0.6) for _ in rows]
        ends = [round(total * end / sum(weights)) for end in accumulate(weights)]
        # Two spellings of one city, area or cuisine become the one seen first.
        spelling = {}

        def one(text):
            return spelling.setdefault(folded(text), text)

        self.outlets = [
            Outlet(
                id=row["ID"], name=row["Restaurant"], city=one(row["City"]),
                area=one(row["Area"]), address=row["Address"],
                cuisines=tuple(dict.fromkeys(
                    one(cuisine.strip()) for cuisine in re.split(",|  ", row["Food type"]) if cuisine.strip())),
                price_for_two=round(float(row["Price"]) * 100), rating=round(float(row["Ratings"]) * 100),
                rating_count=int(row["Total ratings"]), delivery_minutes=int(row["Delivery time"]),
                is_open=chance.random() >= CLOSED, first=first, size=end - first)
            for row, first, end in zip(rows, [0, *ends], ends)
        ]

    def items_of(self, outlet) -> list:
        chance = random.Random(f"{SEED} {outlet.id}")
        tags, weights = list(TAGS), list(accumulate(TAGS.values()))
        items = []
        for position in range(outlet.size):
            name = chance.choice(self.names)
            price = round(chance.lognormvariate(10, 0.6) / PRICES.step) * PRICES.step
            described = chance.random() < DESCRIBED
            items.append(Item(
                number=outlet.first + position + 1, id=f"d{position + 1}",
                kind="promo" if chance.random() < PROMOTED else "dessert" if DESSERT.search(name) else "menuItem",
                name=name, description=self._description(chance) if described else None,
                price=min(max(price, PRICES[0]), PRICES[-1]),
                cuisine=chance.choice(outlet.cuisines) if outlet.cuisines else None,
                tags=tuple(dict.fromkeys(
                    chance.choices(tags, cum_weights=weights, k=chance.choices((0, 1, 2, 3), (25, 40, 25, 10))[0]))),
                is_available=chance.random() >= SOLD_OUT))
        return items

    def __iter__(self):
        """Every outlet with each of its items."""
        for outlet in self.outlets:
            for item in self.items_of(outlet):
                yield outlet, item

    def commands(self):
        """The commands that put all of it into Tiffin."""
        for outlet in self.outlets:
            items = self.items_of(outlet)
            yield "OUTLET.PUT", outlet.id, outlet.document()
            yield "MENU.PUT", outlet.id, json.dumps({"sections": self._sections(outlet, items)})
            if outlet.is_open:
                yield "OUTLET.OPEN", outlet.id
            yield from (("MENU.ITEM.SUSPEND", outlet.id, item.id) for item in items if not item.is_available)

    @cached_property
    def sample(self) -> list:
        """Some thousand pairs of outlet and item, all equally likely: questions are made from them."""
        chance = random.Random(SEED)
        numbers = sorted(chance.sample(range(1, self.total + 1), min(4_000, self.total)))
        pairs, outlets, items = [], iter(self.outlets), []
        for number in numbers:
            while not items or items[-1].number < number:
                outlet = next(outlets)
                items = self.items_of(outlet)
            pairs.append((outlet, items[number - items[0].number]))
        return pairs

    def _description(self, chance) -> str:
        length, words = chance.randint(8, 15), []
        while len(words) < length:
            words += chance.choice(self.names).split()
        return " ".join(words[:length])

    @staticmethod
    def _sections(outlet, items) -> list:
        sections = []
        for kind, item_kind, title in (
                ("promotions", "promo", "Offers"), ("menuItems", "menuItem", "Dishes"),
                ("desserts", "dessert", "Desserts")):
            of_kind = [item.document(outlet) for item in items if item.kind == item_kind]
            sections += [
                {"id": f"{kind}-{first // ITEMS_PER_SECTION + 1}", "title": title, "kind": kind,
                 "items": of_kind[first:first + ITEMS_PER_SECTION]}
                for first in range(0, len(of_kind), ITEMS_PER_SECTION)]
        return sections


def _outlet_rows():
    real = SHARED_DATA / "swiggy-outlets.csv"
    if real.exists():
        with real.open(encoding="utf-8-sig", newline="") as file:
            return [{key: _one_line(value) for key, value in row.items()} for row in csv.DictReader(file)], "real"
    chance = random.Random(SEED)
    cuisines = ("Chinese", "North Indian", "Biryani", "Fast Food", "Desserts", "Italian", "Pizzas", "Thai", "Snacks")
    return [
        {"ID": str(n), "Area": f"Area {chance.randrange(800)}", "City": f"City {chance.randrange(9)}",
         "Restaurant": f"Outlet number {n}", "Price": "300", "Ratings": f"{chance.randint(29, 50) / 10}",
         "Total ratings": "100", "Food type": ",".join(chance.sample(cuisines, chance.randint(1, 4))),
         "Address": f"{n} Main Street", "Delivery time": str(chance.randint(20, 100))}
        for n in range(1, OUTLETS + 1)], "made up"


def _one_line(text) -> str:
    """Without spaces at the ends, and with a space for each control character."""
    return "".join(c if c.isprintable() else " " for c in text).strip()


def _dish_names():
    real = SHARED_DATA / "restaurant-dishes.csv"
    if real.exists():
        with real.open(encoding="utf-8-sig", newline="") as file:
            names = (_one_line(row["Original food Item"]) for row in csv.DictReader(file))
            return [name for name in names if folded(name)]
    ways = ("Grilled", "Crispy", "Spicy", "Smoked", "Classic", "Roasted", "Creamy", "House", "Garlic", "Lemon")
    foods = ("Chicken", "Paneer", "Prawn", "Mushroom", "Lamb", "Tofu", "Egg", "Vegetable", "Chocolate", "Mango")
    forms = ("Biryani", "Curry", "Burger", "Salad", "Soup", "Wrap", "Pizza", "Cake", "Bowl", "Noodles")
    return [f"{way} {food} {form}" for way in ways for food in foods for form in forms]
