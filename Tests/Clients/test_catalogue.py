"""Outlets, menus and the outlet home over the wire."""

import json

import pytest

import tiffin
from tiffin import item_document, outlet_document, section_document

OUTLET_KEYS = [
    "name", "city", "area", "address", "currency", "timeZone", "cuisines", "priceForTwo", "rating", "ratingCount",
    "deliveryMinutes", "minimumOrder", "hours",
]
FUTURE = "2999-01-01T00:00:00Z"


def in_order(keys, document) -> list:
    """Those keys of the document that are in `keys`, in the document's order."""
    return [key for key in document if key in keys]


def menu_items(client, outlet) -> list:
    return [item["id"] for section in client.json("MENU.GET", outlet)["sections"] for item in section["items"]]


class TestOutlets:
    def test_an_outlet_is_read_as_it_was_put(self, client, name):
        document = outlet_document("ශ්‍රී Kitchen", cuisines=["Sri Lankan", "Tamil"])
        version = client("OUTLET.PUT", name, json.dumps(document))
        assert version >= 1
        read = client.json("OUTLET.GET", name)
        assert {key: read[key] for key in document} == document
        assert in_order(OUTLET_KEYS, read) == OUTLET_KEYS

    def test_putting_the_same_again_records_nothing(self, client, name):
        document = json.dumps(outlet_document())
        assert client("OUTLET.PUT", name, document) == client("OUTLET.PUT", name, document)

    def test_putting_a_change_raises_the_version(self, client, name):
        before = client("OUTLET.PUT", name, json.dumps(outlet_document()))
        assert client("OUTLET.PUT", name, json.dumps(outlet_document(rating=4.5))) > before
        assert client.json("OUTLET.GET", name)["rating"] == 4.5

    def test_an_unknown_outlet_is_null(self, client):
        assert client("OUTLET.GET", "nowhere") is None
        assert client("MENU.GET", "nowhere") is None
        assert client.error("OUTLET.OPEN", "nowhere").code == "NOTFOUND"

    @pytest.mark.parametrize("document", [
        "", "not json", "[]", '"text"', '{"name": 7}', json.dumps(outlet_document(currency="rupees")),
        json.dumps(outlet_document(currency="XYZ")),
        json.dumps(outlet_document(timeZone="Mars/Olympus")), json.dumps(outlet_document(priceForTwo=-1)),
        json.dumps(outlet_document(priceForTwo=12.5)), json.dumps(outlet_document(name="")),
    ])
    def test_a_bad_document_is_refused(self, client, name, document):
        assert client.error("OUTLET.PUT", name, document).code == "INVALID"
        assert client("OUTLET.GET", name) is None

    @pytest.mark.parametrize("identifier", ["", "two words", "x" * 65, "café", "a/b"])
    def test_a_bad_identifier_is_refused(self, client, identifier):
        assert client.error("OUTLET.PUT", identifier, json.dumps(outlet_document())).code == "INVALID"

    def test_a_new_outlet_is_closed_until_opened(self, client, name):
        client("OUTLET.PUT", name, json.dumps(outlet_document()))
        client("MENU.PUT", name, json.dumps({"sections": [section_document("s", [item_document("tea", 5000)])]}))
        assert client.error("CART.ADD", name, name, "tea", 1).code == "CLOSED"
        client("OUTLET.OPEN", name)
        assert client("CART.ADD", name, name, "tea", 1) == 1

    def test_a_closed_or_paused_outlet_refuses_items(self, client, outlet):
        client("OUTLET.CLOSE", outlet)
        assert client.error("CART.ADD", outlet, outlet, "rice", 1).code == "CLOSED"
        client("OUTLET.OPEN", outlet)
        client("OUTLET.PAUSE", outlet, "UNTIL", FUTURE, "REASON", "gas ran out")
        assert client.error("CART.ADD", outlet, outlet, "rice", 1).code == "CLOSED"
        client("OUTLET.OPEN", outlet)
        assert client("CART.ADD", outlet, outlet, "rice", 1) == 1


class TestOutletsThatLeave:
    @pytest.fixture
    def counts(self, client, outlet):
        """What lists and searches find of the outlet: in a city of its own, itself and its three items."""
        client("OUTLET.PUT", outlet, json.dumps(outlet_document(city=outlet)))
        city = ("CITY", outlet)

        def counts():
            cities = [city["value"] for city in client.json("OUTLETS", "FACETS")["facets"]["cities"]]
            return (
                client.json("OUTLETS", *city)["total"], client.json("BROWSE", *city)["total"],
                client.json("BROWSE.SAVE", outlet, *city)["total"], client("SURPRISE", *city) is not None,
                outlet in cities)

        yield counts
        client("BROWSE.DROP", outlet)

    LISTED, UNLISTED = (1, 3, 3, True, True), (0, 0, 0, False, False)

    def test_a_hidden_outlet_is_in_no_list_and_takes_orders(self, client, outlet, counts):
        assert counts() == self.LISTED
        before = client("OUTLET.GET", outlet)
        client("OUTLET.HIDE", outlet)
        assert counts() == self.UNLISTED
        shown = client.json("OUTLET.GET", outlet)
        assert shown["hidden"] is True and shown["status"] == "open"
        assert client.json("OUTLET.HOME", outlet)["outlet"]["hidden"] is True
        assert client.json("BROWSE", "OUTLET", outlet)["state"] == "empty"
        assert client("CART.ADD", outlet, outlet, "rice", 1) == 1
        assert client.json("CART.GET", outlet)["lines"][0]["problem"] is None
        assert client("OUTLET.HIDE", outlet) == shown["version"]
        client("OUTLET.SHOW", outlet)
        assert counts() == self.LISTED
        assert client.json("OUTLET.GET", outlet) == {**json.loads(before), "version": shown["version"] + 1}

    def test_a_removed_outlet_is_gone_and_its_history_stays(self, client, outlet, counts):
        client("CART.ADD", outlet, outlet, "rice", 1)
        client("CART.ADD", f"{outlet}-placed", outlet, "rice", 1)
        order = client("CART.CHECKOUT", f"{outlet}-placed", "TOTAL", 125000)
        home, cart = client("OUTLET.HOME", outlet), client.json("CART.GET", outlet)
        version = client("OUTLET.REMOVE", outlet)
        assert counts() == self.UNLISTED
        for command in ("OUTLET.GET", "OUTLET.HOME", "OUTLET.TAGS", "MENU.GET"):
            assert client(command, outlet) is None, command
        assert client.error("OUTLET.HOME", outlet, "SINCE", json.loads(home)["revision"]).code == "NOTFOUND"
        assert client("ITEM.GET", outlet, "rice") is None

        assert client.json("CART.GET", outlet)["lines"] == [{**cart["lines"][0], "problem": {"code": "GONE"}}]
        assert client("CART.COUNT", outlet) == 1
        for command in [
            ("CART.ADD", outlet, outlet, "rice", 1), ("CART.CHECKOUT", outlet, "TOTAL", 125000),
            ("CART.ADD", f"{outlet}-new", outlet, "rice", 1), ("BROWSE", "OUTLET", outlet),
            ("MENU.ITEM.PRICE", outlet, "rice", 1), ("OUTLET.OPEN", outlet), ("OUTLET.SHOW", outlet),
        ]:
            assert client.error(*command).code == "NOTFOUND", command
        assert client("CART.REMOVE", outlet, "rice") == 0
        assert client.json("ORDER.GET", order)["outlet"] == outlet

        assert client("OUTLET.REMOVE", outlet) == version
        assert client.error("OUTLET.PUT", outlet, json.dumps(outlet_document())).code == "STATE"
        last = tiffin.read_log(client, "STREAM", f"outlet-{outlet}")[-1]
        assert (last["kind"], last["payload"]) == ("outlet.removed", {})
        assert client("OUTLET.HOME", outlet, "AT", last["position"]) is None
        assert client("OUTLET.HOME", outlet, "AT", json.loads(home)["revision"]) == home

    def test_an_outlet_that_is_not_there_cannot_leave(self, client):
        for command in ("OUTLET.HIDE", "OUTLET.SHOW", "OUTLET.REMOVE"):
            assert client.error(command, "nowhere").code == "NOTFOUND"


class TestChoosing:
    WORDS = ["tea", "SEED", "7"]

    def test_any_of_the_words_is_chosen_whatever_it_looks_like(self, client):
        assert {client("CHOOSE", *self.WORDS) for _ in range(200)} == {word.encode() for word in self.WORDS}
        assert client("CHOOSE", "café") == "café".encode()
        assert client.error("CHOOSE", b"\xff").code == "INVALID"
        assert client.error("CHOOSE").code == "ERR"

    def test_each_is_as_likely_and_a_seed_repeats_the_choice(self, client):
        chosen = client.pipeline([("CHOOSE.SEED", seed, *self.WORDS) for seed in range(3000)])
        assert chosen == client.pipeline([("CHOOSE.SEED", seed, *self.WORDS) for seed in range(3000)])
        assert all(900 < chosen.count(word.encode()) < 1100 for word in self.WORDS)
        assert client.error("CHOOSE.SEED", "tea", "coffee").code == "INVALID"
        assert client.error("CHOOSE.SEED", 7).code == "ERR"


class TestMenus:
    def test_a_menu_is_read_as_it_was_put(self, client, outlet):
        sections = client.json("MENU.GET", outlet)["sections"]
        assert [section["id"] for section in sections] == ["lunch", "desserts"]
        expected = item_document("rice", 125000)
        assert {key: sections[0]["items"][0][key] for key in expected} == expected
        assert in_order(expected, sections[0]["items"][0]) == list(expected)

    def test_putting_the_menu_just_read_records_nothing(self, client, outlet):
        menu = client("MENU.GET", outlet)
        version = client("MENU.PUT", outlet, menu)
        assert client("MENU.PUT", outlet, menu) == version
        assert client("MENU.GET", outlet) == menu

    def test_attributes_are_read_as_they_were_put_whatever_their_order(self, client, outlet):
        attributes = {"vegan": True, "shoeSize": 42.5, "allergens": ["nuts", "milk"], "bloodType": "A"}
        put = lambda given: client("MENU.ITEM.PUT", outlet, "lunch", "rice", json.dumps(item_document("rice", 1, attributes=given)))
        version = put(attributes)
        read = client.json("ITEM.GET", outlet, "rice")["attributes"]
        assert (read, list(read)) == (attributes, sorted(attributes))
        assert put(dict(reversed(attributes.items()), none=None)) == version
        assert client("MENU.PUT", outlet, client("MENU.GET", outlet)) == version
        assert put(attributes | {"shoeSize": "42.5"}) == version + 1

    def test_a_kind_says_which_attributes_it_needs_and_shows_them(self, client, outlet):
        badge = item_document("new", None, kind="badge", name="Newcomer", attributes={"label": "New", "points": 25, "colour": "red"})
        for name, value in (("points", "25"), ("points", 10_001), ("label", None), ("label", "x" * 41)):
            error = client.error(
                "MENU.ITEM.PUT", outlet, "lunch", "new", json.dumps(badge | {"attributes": badge["attributes"] | {name: value}}))
            assert str(error).startswith(f"INVALID attributes.{name}: ")
        client("MENU.ITEM.PUT", outlet, "lunch", "new", json.dumps(badge))
        card = client.json("OUTLET.HOME", outlet)["sections"][0]["items"][-1]
        assert list(card["model"].items())[-2:] == [("label", "New"), ("points", 25)]

    def test_sections_and_items_are_put_before_others_and_removed(self, client, outlet):
        section = section_document("breakfast", [])
        client("MENU.SECTION.PUT", outlet, "breakfast", json.dumps(section), "BEFORE", "lunch")
        client("MENU.ITEM.PUT", outlet, "breakfast", "pittu", json.dumps(item_document("pittu", 30000)))
        client("MENU.ITEM.PUT", outlet, "breakfast", "hoppers", json.dumps(item_document("hoppers", 25000)),
               "BEFORE", "pittu")
        assert menu_items(client, outlet) == ["hoppers", "pittu", "rice", "kottu", "watalappan"]
        client("MENU.ITEM.REMOVE", outlet, "hoppers")
        client("MENU.SECTION.REMOVE", outlet, "desserts")
        assert menu_items(client, outlet) == ["pittu", "rice", "kottu"]

    def test_a_suspended_item_is_sold_out_until_resumed(self, client, outlet):
        client("MENU.ITEM.SUSPEND", outlet, "rice")
        assert client.error("CART.ADD", outlet, outlet, "rice", 1).code == "SOLDOUT"
        client("MENU.ITEM.RESUME", outlet, "rice")
        client("MENU.ITEM.SUSPEND", outlet, "rice", "UNTIL", FUTURE)
        assert client.error("CART.ADD", outlet, outlet, "rice", 1).code == "SOLDOUT"
        client("MENU.ITEM.RESUME", outlet, "rice")
        assert client("CART.ADD", outlet, outlet, "rice", 1) == 1

    def test_a_price_is_a_number_of_minor_units(self, client, outlet):
        client("MENU.ITEM.PRICE", outlet, "rice", 130000)
        assert client.json("ITEM.GET", outlet, "rice")["price"] == 130000
        for price in ("-1", "12.5", "9223372036854775808", "free"):
            assert client.error("MENU.ITEM.PRICE", outlet, "rice", price).code == "INVALID"

    @pytest.mark.parametrize("command", [
        ("MENU.ITEM.PRICE", "nothing", 1), ("MENU.ITEM.SUSPEND", "nothing"), ("MENU.ITEM.REMOVE", "nothing"),
        ("MENU.SECTION.REMOVE", "nothing"),
    ])
    def test_an_item_not_on_the_menu_is_not_found(self, client, outlet, command):
        assert client.error(command[0], outlet, *command[1:]).code == "NOTFOUND"

    @pytest.mark.parametrize("change", [
        {"kind": "no-such-kind"}, {"layout": {"style": "no-such-style"}}, {"id": "not an id"}, {"items": 7},
    ], ids=str)
    def test_a_section_of_an_unknown_kind_or_form_is_refused(self, client, outlet, change):
        menu = {"sections": [{**section_document("s", []), **change}]}
        assert client.error("MENU.PUT", outlet, json.dumps(menu)).code == "INVALID"

    def test_an_item_twice_in_a_menu_is_refused(self, client, outlet):
        menu = {"sections": [section_document(s, [item_document("tea", 5000)]) for s in ("one", "two")]}
        assert client.error("MENU.PUT", outlet, json.dumps(menu)).code == "INVALID"


class TestMedia:
    IMAGES = [{"url": "https://example.com/rice.jpg", "alt": "Rice on a leaf"}, {"url": "/rice-2.jpg", "alt": None}]
    LINKS = [{"rel": "source", "url": "https://example.com/rice?a=b#c", "title": "How we cook rice"},
             {"rel": "video", "url": "/films/rice", "title": None}]

    def menu(self, **changes):
        item = item_document("rice", 1000, **changes)
        return json.dumps({"sections": [section_document("lunch", [item, item_document("tea", 500)])]})

    def test_images_and_links_are_read_as_they_were_put(self, client, outlet):
        document = self.menu(images=self.IMAGES, links=self.LINKS, imageSmall=None)
        version = client("MENU.PUT", outlet, document)
        read = client.json("ITEM.GET", outlet, "rice")
        assert (read["images"], read["links"], read["imageSmall"]) == (self.IMAGES, self.LINKS, None)
        assert client("MENU.PUT", outlet, client("MENU.GET", outlet)) == version
        cards = {item["id"]: item["model"] for item in client.json("OUTLET.HOME", outlet)["sections"][0]["items"]}
        assert (cards["rice"].get("hasLinks"), "hasLinks" in cards["tea"]) == (True, False)
        found = client.json("BROWSE", "OUTLET", outlet, "SORT", "name")["items"]
        assert [item.get("hasLinks") for item in found] == [True, None]
        plain = item_document("rice", 1000)
        client("MENU.ITEM.PUT", outlet, "lunch", "rice", json.dumps(plain))
        assert client.json("ITEM.GET", outlet, "rice")["links"] == []

    @pytest.mark.parametrize("changes, field", [
        ({"imageSmall": "javascript:alert(1)"}, "imageSmall"), ({"imageLarge": "nonsense"}, "imageLarge"),
        ({"links": [{"rel": "source", "url": "data:text/html,x"}]}, "links[0].url"),
        ({"links": LINKS + [{"rel": "a b", "url": "/a"}]}, "links[2].rel"),
        ({"links": [{"url": "/a"}]}, "links[0].rel"), ({"links": [{"rel": "source"}]}, "links[0].url"),
        ({"links": LINKS * 11}, "links"), ({"links": [{"rel": "a", "url": "/a", "href": "/a"}]}, "links[0].href"),
        ({"images": [{"url": "https://me:secret@example.com"}]}, "images[0].url"), ({"images": ["/a"]}, "images[0]"),
        ({"images": [{"url": "/a", "alt": ""}]}, "images[0].alt"),
    ])
    def test_addresses_that_lead_nowhere_are_refused_with_their_place(self, client, outlet, changes, field):
        before = client("MENU.GET", outlet)
        error = client.error("MENU.PUT", outlet, self.menu(**changes))
        assert str(error).startswith(f"INVALID sections[0].items[0].{field}: ")
        assert client("MENU.GET", outlet) == before

    def test_a_grid_has_a_least_width_of_its_cards(self, client, outlet):
        grid = {"style": "grid", "minimumWidth": 160}
        client("MENU.PUT", outlet, json.dumps({"sections": [section_document("all", [item_document("tea", 1)], layout=grid)]}))
        assert client.json("OUTLET.HOME", outlet)["sections"][0]["layout"] == grid
        assert client.json("MENU.GET", outlet)["sections"][0]["layout"] == grid
        for layout, place in (({"style": "grid"}, "layout: "), ({"style": "list", "minimumWidth": 1}, "layout: "),
                              ({"style": "grid", "minimumWidth": 0}, "layout.minimumWidth: ")):
            document = json.dumps({"title": "All", "kind": "menuItems", "layout": layout})
            assert str(client.error("MENU.SECTION.PUT", outlet, "all", document)).startswith(f"INVALID {place}")


class TestHome:
    @pytest.fixture
    def home(self, client, name):
        tiffin.put_open_outlet(client, name, [
            section_document("offers", [
                item_document("two-for-one", 150000, kind="promo"), item_document("free-tea", 0, kind="promo"),
            ], kind="promotions", layout={"style": "horizontalCard", "width": 150, "height": 200}),
            section_document("lunch", [item_document("rice", 125000)]),
            section_document("sweets", [item_document("curd", 40000, kind="dessert")], kind="desserts",
                             layout={"style": "horizontalCard", "width": 150, "height": 300}),
        ])
        return client.json("OUTLET.HOME", name)

    def test_the_keys_are_in_their_fixed_order(self, home):
        assert list(home) == ["outlet", "revision", "state", "tagBar", "sections"]
        section = home["sections"][0]
        assert list(section) == ["id", "kind", "headerTitle", "layout", "sticky", "accessibilityId", "itemAccessibilityPrefix", "items"]
        assert list(section["items"][0]) == ["id", "kind", "model"]

    def test_every_section_has_a_chip_in_the_tag_bar(self, client, name, home):
        bar = home["tagBar"]
        assert bar["height"] == 36
        assert bar["showBelow"] != bar["hideAbove"]
        assert [chip["section"] for chip in bar["chips"]] == [section["id"] for section in home["sections"]]
        assert all(chip["id"] == f"tag_{chip['section']}" for chip in bar["chips"])
        assert client.json("OUTLET.TAGS", name) == bar

    def test_accessibility_ids_are_stable(self, home):
        promotions, _, desserts = home["sections"]
        assert promotions["accessibilityId"] == "promos_scroller"
        assert promotions["itemAccessibilityPrefix"] == "promo_card_"
        assert desserts["accessibilityId"] == "desserts_scroller"
        assert desserts["itemAccessibilityPrefix"] == "dessert_card_"

    def test_cards_have_the_size_of_their_kind_unless_the_menu_says_otherwise(self, client, name):
        sections = [
            section_document("offers", [item_document("offer", 100, kind="promo")], kind="promotions"),
            section_document("sweets", [item_document("sweet", 100, kind="dessert")], kind="desserts"),
            section_document("nothing-yet", []),
        ]
        for section in sections:
            del section["layout"]
        tiffin.put_open_outlet(client, name, sections)
        layouts = [section["layout"] for section in client.json("OUTLET.HOME", name)["sections"]]
        assert [(layout["width"], layout["height"]) for layout in layouts] == [(150, 200), (150, 300)]

    def test_an_outlet_without_a_menu_is_empty(self, client, name, outlet):
        assert client.json("OUTLET.HOME", outlet)["state"] == "ready"
        client("OUTLET.PUT", f"{name}-new", json.dumps(outlet_document()))
        assert client.json("OUTLET.HOME", f"{name}-new")["state"] == "empty"

    def test_a_change_raises_the_revision_and_shows(self, client, outlet):
        before = client.json("OUTLET.HOME", outlet)
        client("MENU.ITEM.PRICE", outlet, "rice", 130000)
        after = client.json("OUTLET.HOME", outlet)
        assert after["revision"] > before["revision"]
        assert '"price": 130000' in json.dumps(after["sections"][0]["items"][0]["model"])
        assert client.json("OUTLET.HOME", outlet) == after

    def test_the_cart_count_is_there_when_a_cart_is_named(self, client, outlet):
        client("CART.ADD", outlet, outlet, "rice", 3)
        home = client.json("OUTLET.HOME", outlet, "CART", outlet)
        assert list(home)[-1] == "cartCount"
        assert home["cartCount"] == 3
        assert client.json("OUTLET.HOME", outlet, "CART", "never-seen")["cartCount"] == 0
        assert "cartCount" not in client.json("OUTLET.HOME", outlet)


def test_the_demo_catalogue_is_loaded_into_an_empty_log_once(database):
    catalogue = json.loads((tiffin.CHECKOUT / "Demo" / "catalogue.json").read_text())["outlets"]
    assert len(catalogue) == 3
    server = tiffin.Server(database=database, options=["--demo"])
    events = []
    for _ in range(2):
        with server, server.client() as client:
            for entry in catalogue:
                home = client.json("OUTLET.HOME", entry["id"])
                assert home["state"] == "ready"
                assert [s["id"] for s in home["sections"]] == [s["id"] for s in entry["menu"]["sections"]]
                item = entry["menu"]["sections"][1]["items"][0]["id"]
                with_cart = client("CART.ADD", f"look-{entry['id']}", entry["id"], item, 1, "ID", "once")
                assert with_cart == 1
                # Every promotion is on a card.
                models = [item["model"] for section in home["sections"] for item in section["items"]]
                cards = {model["promotion"]["id"]: model["promotion"] for model in models if "promotion" in model}
                assert cards.keys() == entry["promotions"].keys()
                assert all(card["state"] == "open" for card in cards.values())
                for card in cards.values():
                    client("CART.CODE", f"look-{entry['id']}", card["code"])
            events.append(len(tiffin.read_log(client)))
    assert events[0] == events[1]
