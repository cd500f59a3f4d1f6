"""Random changes of an outlet and its menu by real commands, and documents followed by their patches."""

import json

import jsonpatch
from tiffin import item_document, outlet_document, put_open_outlet, section_document

TITLES = ["Lunch", "Dinner", "à la carte", "a/b~c", "“quoted” \\"]


def canonical(document) -> str:
    """A document as text; equal documents give equal text."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False)


def patched(document, change):
    """The document that a message or an answer to SINCE leads to, according to an implementation that is not ours."""
    return jsonpatch.apply_patch(document, change["patch"])


class Editor:
    """Changes one outlet at random, in ways that change what its home shows or the problems of carts."""

    def __init__(self, outlet, chance, sections=3, items=12):
        self.outlet, self.chance = outlet, chance
        self.sections = [f"s{n}" for n in range(sections)]
        self.items = [f"i{n}" for n in range(items)]

    def menu(self):
        chance, items = self.chance, self.chance.sample(self.items, len(self.items))
        sections = []
        for section in chance.sample(self.sections, chance.randint(1, len(self.sections))):
            taken, items = items[:chance.randint(0, 6)], items[6:]
            kind = chance.choice(["menuItems", "promotions", "desserts"])
            sections.append(section_document(
                section, [self.item(item) for item in taken], kind=kind, title=chance.choice(TITLES),
                sticky=chance.random() < 0.5, layout=None))
        return {"sections": sections}

    def item(self, item):
        chance = self.chance
        return item_document(
            item, chance.choice([100, 250, 999]), kind=chance.choice(["menuItem", "menuItem", "dessert"]),
            tags=chance.sample(["hot", "new", "vegan", "a/b"], chance.randint(0, 3)),
            description=chance.choice([None, "Plain.", "Ṭhe best\nin town"[:8]]))

    def put(self, client):
        put_open_outlet(client, self.outlet, self.menu()["sections"])

    def command(self):
        chance, outlet = self.chance, self.outlet
        section, item = chance.choice(self.sections), chance.choice(self.items)
        before = ["BEFORE", chance.choice(self.items)] if chance.random() < 0.5 else []
        match chance.randrange(15):
            case 0:
                return "MENU.PUT", outlet, json.dumps(self.menu())
            case 1:
                return "OUTLET.PUT", outlet, json.dumps(outlet_document(
                    chance.choice(TITLES), rating=chance.choice([None, 3.5, 4.25]),
                    cuisines=chance.sample(["Thai", "Lao", "Khmer"], chance.randint(0, 3))))
            case 2:
                return "OUTLET.CLOSE", outlet
            case 3 | 4:
                return "OUTLET.OPEN", outlet
            case 5:
                return "OUTLET.PAUSE", outlet, "UNTIL", f"20{chance.randint(50, 90)}-01-01T00:00:00Z"
            case 6:
                return "MENU.ITEM.REMOVE", outlet, item
            case 7:
                return "MENU.ITEM.SUSPEND", outlet, item
            case 8:
                return "MENU.ITEM.RESUME", outlet, item
            case 9:
                header = section_document(section, [], title=chance.choice(TITLES))
                return "MENU.SECTION.PUT", outlet, section, json.dumps(header)
            case 10 | 11:
                return "MENU.ITEM.PRICE", outlet, item, chance.choice([100, 250, 999])
            case 12:
                return chance.choice(["OUTLET.HIDE", "OUTLET.SHOW"]), outlet
            case _:
                return "MENU.ITEM.PUT", outlet, section, item, json.dumps(self.item(item)), *before
