"""What customers ask a catalogue: kinds of questions, and random questions of each kind.

A question is made from a random item, so it has an answer, and common things are asked for often.
"""

import re
from dataclasses import dataclass

from dishes import folded

PAGE = 20


@dataclass(frozen=True)
class Question:
    text: str | None = None
    """Every word, the last one as a prefix."""
    cuisines: tuple = ()
    """Any of them."""
    city: str | None = None
    area: str | None = None
    outlet: str | None = None
    kind: str | None = None
    tags: tuple = ()
    """All of them."""
    price: tuple | None = None
    """The lowest and the highest, both included."""
    rating: int | None = None
    """The lowest, in hundredths."""
    delivery: int | None = None
    """The most minutes."""
    open: bool = False
    sort: str = "price"
    facets: bool = False
    surprise: bool = False

    def words(self) -> list:
        return folded(self.text).split() if self.text else []

    @property
    def own_facets(self) -> set:
        """The facets' columns that the question asks something of."""
        asked = {
            "cuisine": self.cuisines, "city": self.city, "kind": self.kind, "tag": self.tags, "price_band": self.price}
        return {column for column, values in asked.items() if values}


class Chance:
    """Draws the parts of questions from some thousand items."""

    def __init__(self, random, sample):
        self.random = random
        self.sample = sample

    def pair(self):
        return self.random.choice(self.sample)

    def pair_with(self, condition):
        """A pair that meets the condition, which must be a common one."""
        for _ in range(10_000):
            pair = self.pair()
            if condition(*pair):
                return pair
        raise RuntimeError("the catalogue has no item to make this question from")

    def phrase(self, words=2, longest_only=4):
        """Words that follow each other in a dish's name, each of at least that many letters."""
        def runs(item):
            # The first part of the name: after a comma come sizes and sides.
            found = re.findall(r"[A-Za-z]+", item.name.split(",")[0])
            return [found[n:n + words] for n in range(len(found) - words + 1)
                    if all(len(word) >= longest_only for word in found[n:n + words])]

        _, item = self.pair_with(lambda _, item: item.name.isascii() and "'" not in item.name and runs(item))
        return " ".join(self.random.choice(runs(item))).lower()

    def rating(self):
        return self.random.randrange(390, 471, 10)

    def price_around(self, item):
        low = item.price // 5_000 * 5_000
        return low, low + self.random.choice((5_000, 10_000, 20_000))


def _minutes(outlet):
    return -(-outlet.delivery_minutes // 5) * 5


def _alone(chance, **filters):
    outlet, item = chance.pair_with(lambda outlet, item: item.cuisine)
    return Question(**{name: value(outlet, item) if callable(value) else value for name, value in filters.items()})


def _typed(letters):
    return lambda chance: Question(text=chance.phrase(1, max(letters, 4))[:letters], sort="relevance")


def _second_word(letters):
    def make(chance):
        first, second = chance.phrase().split()
        return Question(text=f"{first} {second[:letters]}", sort="relevance")
    return make


def _city_cuisine_rating(chance):
    outlet, item = chance.pair_with(lambda outlet, item: item.cuisine and outlet.rating >= 390)
    return Question(city=outlet.city, cuisines=(item.cuisine,), rating=min(chance.rating(), outlet.rating),
                    sort="rating")


def _veg_price_delivery(chance):
    outlet, item = chance.pair_with(lambda outlet, item: "veg" in item.tags)
    return Question(tags=("veg",), price=chance.price_around(item), delivery=_minutes(outlet), sort="price")


def _three_cuisines_two_tags(chance):
    _, item = chance.pair_with(lambda outlet, item: item.cuisine and len(item.tags) >= 2)
    others = [chance.pair_with(lambda outlet, item: item.cuisine)[1].cuisine for _ in range(2)]
    return Question(cuisines=tuple(dict.fromkeys([item.cuisine, *others])), tags=item.tags[:2], sort="-price")


def _area_open(chance):
    outlet, _ = chance.pair_with(lambda outlet, item: outlet.is_open)
    return Question(area=outlet.area, open=True, sort="delivery")


def _text_city_open(chance):
    outlet, _ = chance.pair_with(lambda outlet, item: outlet.is_open)
    return Question(text=chance.phrase(1), city=outlet.city, open=True, sort="relevance")


def _surprise_cuisine_tag_open(chance):
    _, item = chance.pair_with(lambda outlet, item: item.cuisine and item.tags and outlet.is_open)
    return Question(cuisines=(item.cuisine,), tags=item.tags[:1], open=True, surprise=True)


KINDS = {
    "CUISINE": lambda chance: _alone(chance, cuisines=lambda _, item: (item.cuisine,)),
    "CITY": lambda chance: _alone(chance, city=lambda outlet, _: outlet.city, sort="rating"),
    "CITY by name": lambda chance: _alone(chance, city=lambda outlet, _: outlet.city, sort="name"),
    "AREA": lambda chance: _alone(chance, area=lambda outlet, _: outlet.area),
    "OUTLET": lambda chance: _alone(chance, outlet=lambda outlet, _: outlet.id),
    "KIND": lambda chance: Question(kind=chance.random.choice(("menuItem", "dessert", "promo"))),
    "TAG": lambda chance: Question(tags=chance.pair_with(lambda _, item: item.tags)[1].tags[:1]),
    "PRICE": lambda chance: Question(price=chance.price_around(chance.pair()[1])),
    "RATING": lambda chance: Question(rating=chance.rating(), sort="rating"),
    "DELIVERY": lambda chance: _alone(chance, delivery=lambda outlet, _: _minutes(outlet), sort="delivery"),
    "OPEN": lambda chance: Question(
        open=True, sort=chance.random.choice(("price", "-price", "rating", "delivery"))),
    "TEXT a word": lambda chance: Question(text=chance.phrase(1), sort="relevance"),
    "TEXT a word, by price": lambda chance: Question(text=chance.phrase(1), sort="price"),
    "CITY CUISINE RATING, by rating": _city_cuisine_rating,
    "TEXT CITY OPEN": _text_city_open,
    "TAG veg PRICE DELIVERY, by price": _veg_price_delivery,
    "TEXT two words": lambda chance: Question(text=chance.phrase(), sort="relevance"),
    "3 CUISINES, 2 TAGS, by -price": _three_cuisines_two_tags,
    "AREA OPEN, by delivery": _area_open,
    "typed: 1 letter": _typed(1),
    "typed: 2 letters": _typed(2),
    "typed: 3 letters": _typed(3),
    "typed: 4 letters": _typed(4),
    "typed: a word and 1 letter": _second_word(1),
    "typed: a word and 3 letters": _second_word(3),
    "SURPRISE CITY": lambda chance: _alone(chance, city=lambda outlet, _: outlet.city, surprise=True),
    "SURPRISE CUISINE TAG OPEN": _surprise_cuisine_tag_open,
    "SURPRISE TEXT": lambda chance: Question(text=chance.phrase(1), surprise=True),
    "FACETS of everything": lambda chance: Question(
        facets=True, sort=chance.random.choice(("price", "-price", "rating", "delivery"))),
    "FACETS CITY": lambda chance: _alone(chance, city=lambda outlet, _: outlet.city, facets=True),
    "FACETS CUISINE TEXT": lambda chance: _alone(
        chance, cuisines=lambda _, item: (item.cuisine,), text=chance.phrase(1)[:3], facets=True),
}
