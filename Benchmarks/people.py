"""Half a million people with twelve attributes each, and what a filter screen asks of them.

They are the same in every run and for every contestant: a person is made from a seed and the number when needed.
"""

import json
import random
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import NamedTuple

from tiffin import outlet_document

SEED = 31
PAGE = 20
PEOPLE_PER_CLUB = 1_000
PEOPLE_PER_SECTION = 250
KIND = "badge"


def _common(words):
    """Words with how often they come: each one less than the one before."""
    return words, list(accumulate(1 / (place + 2) for place in range(len(words))))


def _made_up(count, *syllables):
    first, second = syllables
    return [a + b for a in first for b in second][:count]


GIVEN = _made_up(120, ("As", "Bea", "Car", "Din", "El", "Fat", "Gus", "Han", "Ir", "Jo"),
                 ("a", "bel", "dan", "eth", "fin", "gar", "ha", "ina", "jor", "kim", "lo", "mar"))
FAMILY = _made_up(180, ("Al", "Ber", "Cor", "Dom", "Es", "Fer", "Gold", "Hart", "Ib", "Jans", "Kum", "Lind"),
                  ("ado", "berg", "cott", "dis", "en", "fors", "gan", "holm", "iel", "jor", "ka", "land", "man", "nes",
                   "ov"))
JOBS = _common(_made_up(90, ("bridge ", "cloud ", "data ", "earth ", "film ", "garden ", "house ", "iron ", "paper "),
                        ("builder", "buyer", "carrier", "designer", "doctor", "keeper", "maker", "pilot", "seller",
                         "tester")))
HOBBIES = _common(_made_up(80, ("chess", "choir", "climbing", "cooking", "cycling", "dance", "film", "radio"),
                           ("", " at night", " for two", " history", " in clubs", " outdoors", " with dogs", " travel",
                            " writing", " online")))
LANGUAGES = _common([
    "English", "Hindi", "Spanish", "Mandarin", "Arabic", "Bengali", "French", "Portuguese", "Russian", "Urdu", "German",
    "Japanese", "Tamil", "Turkish", "Korean", "Vietnamese", "Italian", "Polish", "Sinhala", "Dutch", "Greek", "Swahili",
    "Thai", "Czech", "Swedish", "Hungarian", "Finnish", "Danish", "Norwegian", "Hebrew"])
BLOOD = ("O+", "A+", "B+", "AB+", "O-", "A-", "B-", "AB-"), list(accumulate((38, 30, 12, 4, 6, 6, 2, 1)))
EYES = ("brown", "blue", "hazel", "amber", "green", "grey"), list(accumulate((70, 10, 8, 5, 4, 3)))

# The attributes by their types.
NUMBERS = ("age", "height", "income", "points", "shoeSize")
TEXTS = ("bloodType", "eyes", "label")
LISTS = ("hobbies", "languages")
FLAGS = ("smoker", "vegan")


class Person(NamedTuple):
    number: int
    name: str
    age: int
    height: int
    income: int
    points: int
    """From 0 to 10,000."""
    shoeSize: float
    bloodType: str
    eyes: str
    label: str
    """The profession: what the card of a badge shows."""
    hobbies: tuple
    languages: tuple
    smoker: bool
    vegan: bool
    description: str | None = None

    @property
    def club(self) -> str:
        return f"club-{(self.number - 1) // PEOPLE_PER_CLUB}"

    @property
    def section(self) -> str:
        return f"s{(self.number - 1) % PEOPLE_PER_CLUB // PEOPLE_PER_SECTION}"

    @property
    def id(self) -> str:
        return f"p{self.number}"

    def document(self) -> dict:
        return {
            "id": self.id, "kind": KIND, "name": self.name, "description": self.description,
            "attributes": {name: value for name in (*NUMBERS, *TEXTS, *LISTS, *FLAGS)
                           if (value := getattr(self, name)) is not None}}


def _picked(chance, words, most) -> tuple:
    values, weights = words
    return tuple(dict.fromkeys(chance.choices(values, cum_weights=weights, k=chance.randint(1, most))))


def person(number, change=0) -> Person:
    """The person with that number, from 1, as it is after so many changes: only the name stays."""
    chance = random.Random(f"{SEED} {number}")
    # Every name is another one, so that an order by names is the same for everybody.
    name = f"{chance.choice(GIVEN)} {chance.choice(FAMILY)} {number:06}"
    if change:
        chance = random.Random(f"{SEED} {number} {change}")
    pick = chance.choices
    return Person(
        number=number, name=name, age=min(95, 18 + int(chance.expovariate(0.035))), height=round(chance.gauss(169, 9)),
        income=round(chance.lognormvariate(10.4, 0.6) / 100) * 100, points=chance.randrange(10_001),
        shoeSize=round(chance.gauss(41, 2.5) * 2) / 2, bloodType=pick(BLOOD[0], cum_weights=BLOOD[1])[0],
        eyes=pick(EYES[0], cum_weights=EYES[1])[0], label=pick(JOBS[0], cum_weights=JOBS[1])[0],
        hobbies=_picked(chance, HOBBIES, 5), languages=_picked(chance, LANGUAGES, 3), smoker=chance.random() < 0.2,
        vegan=chance.random() < 0.08, description=f"change {change}" if change else None)


class People:
    def __init__(self, total, unsaid=()):
        """So many people, who do not say those attributes."""
        self.total, self._unsaid = total, dict.fromkeys(unsaid)

    def __iter__(self):
        return (person(number)._replace(**self._unsaid) for number in range(1, self.total + 1))

    def commands(self):
        """The commands that put all of them into Tiffin, as badges of clubs."""
        everybody = iter(self)
        while members := list(islice(everybody, PEOPLE_PER_CLUB)):
            sections = {}
            for member in members:
                sections.setdefault(member.section, []).append(member.document())
            club = members[0].club
            yield "OUTLET.PUT", club, json.dumps(outlet_document(club))
            yield "MENU.PUT", club, json.dumps({"sections": [
                {"id": section, "title": section, "kind": "menuItems", "items": items}
                for section, items in sections.items()]})


# --- questions


@dataclass(frozen=True)
class Condition:
    """What is asked of one attribute: a range with both ends included, None where it is open, or any of some values."""

    name: str
    low: float | None = None
    high: float | None = None
    values: tuple = ()
    excluded: bool = False

    def words(self) -> list:
        words = ["NOT"] if self.excluded else []
        if self.values:
            return [*words, "ATTR", self.name, "ANY", *(f"={_word(value)}" for value in self.values)]
        return [*words, "ATTR", self.name, *("*" if end is None else end for end in (self.low, self.high))]


def _word(value):
    return str(value).lower() if isinstance(value, bool) else value


@dataclass(frozen=True)
class Question:
    conditions: tuple
    facets: tuple = ()

    def filters(self) -> list:
        return [word for condition in self.conditions for word in condition.words()]

    def words(self) -> list:
        words = ["BROWSE", *self.filters(), "SORT", "name", "LIMIT", PAGE]
        return words + (["FACETS", *(f"attributes.{name}" for name in self.facets)] if self.facets else [])


def _range(chance, someone, name, share=0.2) -> Condition:
    """A range around what somebody has, of about that share of the usual values."""
    width = {"age": 50, "height": 36, "income": 60_000, "points": 10_000, "shoeSize": 10}[name] * share
    value, below = getattr(someone, name), chance.random()
    step = 0.5 if name == "shoeSize" else 1
    return Condition(name, low=round((value - width * below) / step) * step,
                     high=round((value + width * (1 - below)) / step) * step)


def _any(someone, name, *others) -> Condition:
    values = getattr(someone, name)
    values = values[:1] if isinstance(values, tuple) else (values,)
    return Condition(name, values=tuple(dict.fromkeys([*values, *others])))


def _not(condition) -> Condition:
    return Condition(condition.name, condition.low, condition.high, condition.values, excluded=True)


def _from(make):
    """Questions that somebody who is picked at random answers to."""
    return lambda chance, people: make(chance, person(chance.randint(1, people.total)))


def _other(chance, words):
    return chance.choice(words[0])


KINDS = {
    "a text": _from(lambda chance, one: Question((_any(one, chance.choice(TEXTS)),))),
    "a word of a list": _from(lambda chance, one: Question((_any(one, chance.choice(LISTS)),))),
    "true or false": _from(lambda chance, one: Question((_any(one, chance.choice(FLAGS)),))),
    "a range": _from(lambda chance, one: Question((_range(chance, one, chance.choice(NUMBERS)),))),
    "a narrow range": _from(lambda chance, one: Question((_range(chance, one, "income", 0.005),))),
    "an open range": _from(lambda chance, one: Question((Condition("income", low=one.income),))),
    "any of 4 words": _from(lambda chance, one: Question((
        _any(one, "hobbies", *(_other(chance, HOBBIES) for _ in range(3))),))),
    "2: a text and a range": _from(lambda chance, one: Question((
        _any(one, "bloodType"), _range(chance, one, "age")))),
    "2: a profession and a language": _from(lambda chance, one: Question((_any(one, "label"), _any(one, "languages")))),
    "2: ranges": _from(lambda chance, one: Question((
        _range(chance, one, "income"), _range(chance, one, "height")))),
    "2: all but a word, in a range": _from(lambda chance, one: Question((
        _range(chance, one, "age"), Condition("hobbies", values=(_other(chance, HOBBIES),), excluded=True)))),
    "2: neither a range nor a text": _from(lambda chance, one: Question((
        _not(_range(chance, one, "age", 0.5)), Condition("eyes", values=(_other(chance, EYES),), excluded=True)))),
    "5: everything": _from(lambda chance, one: Question((
        _range(chance, one, "age", 0.3), _any(one, "bloodType", _other(chance, BLOOD)), _any(one, "smoker"),
        _any(one, "languages"), Condition("income", low=one.income // 2)))),
    "5: ranges": _from(lambda chance, one: Question(tuple(_range(chance, one, name, 0.5) for name in NUMBERS))),
    "5: with 2 exclusions": _from(lambda chance, one: Question((
        _any(one, "eyes"), _any(one, "hobbies", _other(chance, HOBBIES)), _range(chance, one, "shoeSize", 0.4),
        Condition("vegan", values=(not one.vegan,), excluded=True),
        Condition("languages", values=(_other(chance, LANGUAGES),), excluded=True)))),
    "facets of everybody": lambda chance, people: Question((), ("bloodType", "age", "hobbies", "smoker")),
    "facets of a text": _from(lambda chance, one: Question(
        (_any(one, "label"),), ("bloodType", "age", "hobbies", "smoker"))),
    "facets that are asked": _from(lambda chance, one: Question(
        (_any(one, "bloodType"), _range(chance, one, "age")), ("bloodType", "age", "languages"))),
    "5, with facets": _from(lambda chance, one: Question(
        (_range(chance, one, "age", 0.3), _any(one, "bloodType", _other(chance, BLOOD)), _any(one, "smoker"),
         _any(one, "languages"), Condition("income", low=one.income // 2)),
        ("bloodType", "age", "languages", "hobbies", "smoker"))),
}
