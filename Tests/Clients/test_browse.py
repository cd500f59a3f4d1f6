"""Finding items and outlets over the wire: filters, pages, counts, and what changes do to them."""

import itertools
import json

import pytest

import tiffin
from tampering import insert_event, tamper
from tiffin import Server, fresh_database, item_document, outlet_document, section_document, wait_until

FUTURE = "2999-01-01T00:00:00Z"


def put_kitchens(client):
    """Three outlets: `harbour` and `hill` with menus, `empty` without. The filters below show the rest."""
    tiffin.put_open_outlet(client, "harbour", [
        section_document("lunch", [
            item_document("kottu", 98000, name="කොත්තු රොටි", tags=["hot", "street"], cuisine=None,
                          attributes={"spice": 4.5, "allergens": ["egg", "gluten"]}),
            item_document("rice", 125000, name="Rice and curry", tags=["hot"], attributes={"spice": 2}),
            item_document("dosai", 65000, name="மசால தோசை", cuisine="Tamil", tags=["veg"]),
        ]),
        section_document("sweets", [item_document("curd", 45000, kind="dessert", name="Curd", cuisine=None, tags=[])]),
    ], name="Harbour House", cuisines=["Sri Lankan", "Seafood"], rating=4.4, deliveryMinutes=35, priceForTwo=240000)
    tiffin.put_open_outlet(client, "hill", [
        section_document("menu", [
            item_document("chicken", 180000, name="宫保鸡丁", cuisine="Chinese", tags=["hot"], description="With rice",
                          attributes={"spice": -1}),
            item_document("thali", 90000, name="हिन्दी थाली", cuisine="Indian", tags=["veg", "hot"],
                          attributes={"spice": "mild", "vegan": True, "allergens": ["nuts", "Gluten"]}),
            item_document("poppers", 70000, name="Jalapeño poppers", cuisine=None, tags=["street"]),
            item_document("offer", None, kind="promo", name="Two for one", cuisine=None, tags=[]),
        ]),
    ], name="Hill Café", city="Kandy", area="Temple", cuisines=["Fusion"], rating=3.9, deliveryMinutes=50, priceForTwo=300000)
    client("OUTLET.PUT", "empty", json.dumps(outlet_document(
        "Empty Café", city=None, area=None, cuisines=[], rating=None, deliveryMinutes=None, priceForTwo=None)))


ITEMS = {"kottu", "rice", "dosai", "curd", "chicken", "thali", "poppers", "offer"}


@pytest.fixture(scope="module")
def browser():
    """A client of a server with the three kitchens, which the tests that use it do not change."""
    with fresh_database() as url, Server(database=url) as server, server.client() as connection:
        put_kitchens(connection)
        yield connection


@pytest.fixture
def own(database):
    """A server of the test's own with the three kitchens, and a client."""
    with Server(database=database) as server, server.client() as connection:
        put_kitchens(connection)
        yield server, connection


def found(client, *words, command="BROWSE") -> list:
    """The ids of all matches, in order, over several pages."""
    ids, after = [], ()
    while True:
        answer = client.json(command, *words, *after)
        assert [key for key in answer if key != "suggestions"] == ["total", "items", "next", "facets", "state"]
        assert ("suggestions" in answer) <= (answer["total"] == 0)
        ids += [item["item" if command == "BROWSE" else "id"] for item in answer["items"]]
        if answer["next"] is None:
            assert answer["total"] == len(ids)
            return ids
        after = ("AFTER", answer["next"])


FILTERS = {
    ("TEXT", "rice"): {"rice", "chicken"},
    ("TEXT", "RICE", "cur"): {"rice"},
    ("TEXT", "rice and curry"): {"rice"},
    ("TEXT", "jalapeno"): {"poppers"},
    ("TEXT", "JALAPEÑO POP"): {"poppers"},
    ("TEXT", "කොත්"): {"kottu"},
    ("TEXT", "தோசை"): {"dosai"},
    ("TEXT", "鸡"): {"chicken"},
    ("TEXT", "鸡丁"): {"chicken"},
    ("TEXT", "थाली"): {"thali"},
    ("TEXT", "nothing"): set(),
    ("CUISINE", "sri lankan"): {"kottu", "rice", "curd"},
    ("CUISINE", "seafood"): {"kottu", "curd"},
    ("CUISINE", "chinese", "TAMIL"): {"chicken", "dosai"},
    ("CITY", "kandy"): {"chicken", "thali", "poppers", "offer"},
    ("AREA", "fort"): {"kottu", "rice", "dosai", "curd"},
    ("OUTLET", "hill"): {"chicken", "thali", "poppers", "offer"},
    ("KIND", "dessert"): {"curd"},
    ("TAG", "hot"): {"kottu", "rice", "chicken", "thali"},
    ("PRICE", "70000", "98000"): {"kottu", "thali", "poppers"},
    ("RATING", "4"): {"kottu", "rice", "dosai", "curd"},
    ("RATING", "3.9"): ITEMS,
    ("RATING", "4.41"): set(),
    ("DELIVERY", "49"): {"kottu", "rice", "dosai", "curd"},
    ("OPEN",): ITEMS,
    ("TEXT", ""): ITEMS,
    ("TEXT", "=rice", "=open"): set(),
    ("CITY", "=Kandy", "=OPEN"): {"chicken", "thali", "poppers", "offer"},
    ("KIND", "soup", "dessert", "promo"): {"curd", "offer"},
    ("OUTLET", "hill", "harbour"): ITEMS,
    ("TAG", "veg", "street"): {"kottu", "dosai", "thali", "poppers"},
    ("PRICE", "*", "65000"): {"dosai", "curd"},
    ("RATING", "*", "4"): {"chicken", "thali", "poppers", "offer"},
    ("RATING", "6"): set(),
    ("DELIVERY", "36", "*"): {"chicken", "thali", "poppers", "offer"},
    ("NOT", "TAG", "hot", "street"): {"dosai", "curd", "offer"},
    ("NOT", "TEXT", "rice"): ITEMS - {"rice", "chicken"},
    ("NOT", "ATTR", "spice", "*", "*"): ITEMS - {"kottu", "rice", "chicken"},
    ("NOT", "OPEN"): set(),
    ("ATTR", "spice", "2", "*"): {"kottu", "rice"},
    ("ATTR", "spice", "*", "2.0"): {"rice", "chicken"},
    ("ATTR", "spice", "any", "MILD", "4.50"): {"thali", "kottu"},
    ("ATTR", "allergens", "ANY", "gluten"): {"kottu", "thali"},
    ("ATTR", "vegan", "ANY", "true"): {"thali"},
    ("ATTR", "Spice", "*", "*"): set(),
}


@pytest.mark.parametrize(("words", "expected"), FILTERS.items(), ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_every_filter_alone(browser, words, expected):
    assert set(found(browser, *words)) == expected
    assert set(found(browser, words[0].lower(), *words[1:])) == expected


def test_every_two_filters_together(browser):
    for (first, some), (second, others) in itertools.combinations(FILTERS.items(), 2):
        if first[0] != second[0]:
            assert set(found(browser, *first, *second)) == some & others, (first, second)
            # Filters with several values take none of the next filter's.
            assert set(found(browser, *second, *first)) == some & others, (second, first)
    assert set(found(browser, "TAG", "hot", "TAG", "veg")) == {"thali"}
    assert set(found(browser, "ATTR", "allergens", "ANY", "gluten", "ATTR", "spice", "0", "9")) == {"kottu"}


OUTLETS = {
    (): {"harbour", "hill", "empty"}, ("TEXT", "cafe"): {"hill", "empty"}, ("TEXT", "kandy"): {"hill"},
    ("TEXT", "seafood"): {"harbour"}, ("CUISINE", "fusion", "seafood"): {"harbour", "hill"}, ("CITY", "COLOMBO"): {"harbour"},
    ("AREA", "temple"): {"hill"}, ("OUTLET", "empty"): {"empty"}, ("KIND", "dessert"): {"harbour"},
    ("TAG", "veg", "TAG", "street"): {"harbour", "hill"}, ("PRICE", "240000", "299999"): {"harbour"}, ("RATING", "0"): {"harbour", "hill"},
    ("DELIVERY", "35"): {"harbour"}, ("OPEN",): {"harbour", "hill"},
    ("ATTR", "spice", "ANY", "mild"): {"hill"}, ("ATTR", "spice", "*", "2"): {"harbour", "hill"}, ("ATTR", "none", "*", "*"): set(),
    ("NOT", "ATTR", "spice", "0", "*"): {"hill", "empty"}, ("NOT", "RATING", "4"): {"hill", "empty"},
}


@pytest.mark.parametrize(("words", "expected"), OUTLETS.items(), ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_outlets_are_found_too(browser, words, expected):
    assert set(found(browser, *words, command="OUTLETS")) == expected


SORTS = {
    "name": ["curd", "poppers", "rice", "offer", "thali", "dosai", "kottu", "chicken"],
    "price": ["curd", "dosai", "poppers", "thali", "kottu", "rice", "chicken", "offer"],
    "-price": ["chicken", "rice", "kottu", "thali", "poppers", "dosai", "curd", "offer"],
    "rating": ["curd", "dosai", "kottu", "rice", "chicken", "offer", "poppers", "thali"],
    "delivery": ["curd", "dosai", "kottu", "rice", "chicken", "offer", "poppers", "thali"],
}


@pytest.mark.parametrize("sort", SORTS)
def test_every_sort_page_by_page(browser, sort):
    for limit in (1, 3, 8, 100):
        assert found(browser, "SORT", sort, "LIMIT", limit) == SORTS[sort]
    assert found(browser, "TEXT", "rice") == ["rice", "chicken"], "matches in the name come first"


def test_an_item_says_what_a_card_needs(browser):
    (item,) = browser.json("BROWSE", "TEXT", "jalapeno")["items"]
    assert item == {
        "outlet": "hill", "item": "poppers", "kind": "menuItem", "name": "Jalapeño poppers", "description": "The poppers.", "price": 70000,
        "currency": "LKR", "cuisine": None, "tags": ["street"], "imageSmall": "https://example.com/poppers-small.jpg", "available": True,
        "availableFrom": None, "outletName": "Hill Café", "city": "Kandy", "area": "Temple", "rating": 3.9, "deliveryMinutes": 50,
        "status": "open",
    }


def test_facets_count_all_matches_and_not_the_page(browser):
    assert browser.json("BROWSE", "LIMIT", 1)["facets"] is None
    answer = browser.json("BROWSE", "TAG", "hot", "FACETS", "LIMIT", 1)
    prices = answer["facets"].pop("prices")
    facets = {name: {count["value"]: count["count"] for count in counts} for name, counts in answer["facets"].items()}
    assert facets == {
        "cuisines": {"Sri Lankan": 2, "Seafood": 1, "Chinese": 1, "Indian": 1}, "cities": {"Colombo": 2, "Kandy": 2},
        "kinds": {"menuItem": 4},
        # What was asked of tags does not narrow their own counts.
        "tags": {"hot": 4, "street": 2, "veg": 2},
    }
    assert prices == {"min": 90000, "max": 180000, "bands": [
        {"from": 50000, "to": 99999, "count": 2}, {"from": 100000, "to": 199999, "count": 2}]}
    for band in prices["bands"]:
        assert browser.json("BROWSE", "TAG", "hot", "PRICE", band["from"], band["to"])["total"] == band["count"]
    nothing = {"min": None, "max": None, "bands": []}
    assert browser.json("BROWSE", "TEXT", "nothing", "FACETS")["facets"] == {**{name: [] for name in facets}, "prices": nothing}


def test_facets_are_chosen_by_name(browser):
    answer = browser.json("BROWSE", "FACETS", "areas", "ratings", "attributes.spice", "attributes.allergens", "attributes.none", "LIMIT", 1)
    assert answer["facets"] == {
        "areas": [{"value": "Fort", "count": 4}, {"value": "Temple", "count": 4}],
        "ratings": {"min": 3.9, "max": 4.4, "bands": [{"from": 3.9, "to": 3.99, "count": 4}, {"from": 4.4, "to": 4.49, "count": 4}]},
        "attributes.spice": {
            "min": -1, "max": 4.5, "bands": [
                {"from": -1, "to": -0.500001, "count": 1}, {"from": 2, "to": 2.499999, "count": 1}, {"from": 4.5, "to": 4.999999, "count": 1}],
            "values": [{"value": "mild", "count": 1}]},
        "attributes.allergens": {
            "min": None, "max": None, "bands": [], "values": [
                {"value": "Gluten", "count": 2}, {"value": "egg", "count": 1}, {"value": "nuts", "count": 1}]},
        "attributes.none": {"min": None, "max": None, "bands": [], "values": []},
    }
    # The options that follow are no facets, and what comes of a band can be typed.
    for band in answer["facets"]["attributes.spice"]["bands"]:
        assert browser.json("BROWSE", "FACETS", "ATTR", "spice", band["from"], band["to"])["total"] == band["count"]
    outlets = browser.json("OUTLETS", "FACETS", "attributes.spice", "deliveryMinutes", "ATTR", "spice", "2", "*")
    assert outlets["facets"]["attributes.spice"]["values"] == [{"value": "mild", "count": 1}]
    assert [band["count"] for band in outlets["facets"]["attributes.spice"]["bands"]] == [1, 1, 1]
    assert outlets["facets"]["deliveryMinutes"]["max"] == 35, "hill's items with a number are below 2"
    error = browser.error("BROWSE", "FACETS", "cuisines", "colours")
    assert error.code == "INVALID" and "has no 'colours', but cuisines, cities" in str(error)


def test_prices_in_several_currencies_are_not_compared(own):
    _, client = own
    assert set(found(client, "PRICE", 0, 70000)) == {"dosai", "curd", "poppers"}
    tiffin.put_open_outlet(client, "pub", [section_document("all", [item_document("pie", 1650), item_document("ale", 700)])], currency="GBP")
    for words in (("PRICE", 0, 70000), ("NOT", "PRICE", 0, 70000), ("CURRENCY", "GBP", "LKR", "PRICE", 0, 70000), ("FACETS", "prices")):
        assert client.error("BROWSE", *words).code == "INVALID"
        assert "needs one CURRENCY" in str(client.error("BROWSE", *words))
    assert client.error("BROWSE.SAVE", "cheap", "PRICE", 0, 70000).code == "INVALID"
    assert found(client, "CURRENCY", "gbp", "PRICE", 0, 70000, "SORT", "price") == ["ale", "pie"]
    assert found(client, "OUTLET", "pub", "PRICE", 0, 1000) == ["ale"]
    assert found(client, "SORT", "price")[:3] == ["ale", "pie", "curd"], "the pounds come first, by their code"
    assert client.json("BROWSE", "FACETS", "LIMIT", 1)["facets"]["prices"] is None
    facets = client.json("BROWSE", "CURRENCY", "GBP", "PRICE", 0, 1000, "FACETS", "prices", "currencies", "LIMIT", 1)["facets"]
    assert facets["prices"] == {
        "min": 700, "max": 1650, "bands": [{"from": 500, "to": 999, "count": 1}, {"from": 1000, "to": 1999, "count": 1}]}
    assert facets["currencies"] == [{"value": "LKR", "count": 8}, {"value": "GBP", "count": 2}]
    assert client.error("SURPRISE", "PRICE", 0, 1000).code == "INVALID"


def test_an_outlet_keeps_a_currency_that_nobody_knows(own, database):
    server, client = own
    position = client.json("LOG.HEAD")[0]["position"] + 1
    server.kill()
    insert_event(database, position, "outlet-old", 1, "outlet.registered", 1, '{"currency":"XYZ","name":"Old","timeZone":"UTC"}')
    with server.start().client() as client:
        assert found(client, "CURRENCY", "xyz", command="OUTLETS") == ["old"]
        assert client("OUTLET.PUT", "old", json.dumps(outlet_document("New", currency="XYZ"))) > 1
        assert client.json("OUTLET.GET", "old")["name"] == "New"
        assert client.error("OUTLET.PUT", "other", json.dumps(outlet_document(currency="XYZ"))).code == "INVALID"
        assert client.error("OUTLET.PUT", "harbour", json.dumps(outlet_document(currency="XYZ"))).code == "INVALID"


def test_a_misspelled_text_is_corrected(browser):
    answer = browser.json("BROWSE", "TEXT", "rcie crury")
    assert (answer["total"], answer["state"], answer["suggestions"]) == (0, "empty", ["rice curry"])
    assert found(browser, "TEXT", *answer["suggestions"]) == ["rice"]
    assert browser.json("BROWSE", "TEXT", "biryani")["suggestions"] == [], "nothing is near in any script"
    assert browser.json("BROWSE", "TEXT", "Popprs", "CITY", "Kandy")["suggestions"] == ["poppers"]
    assert browser.json("BROWSE", "TEXT", "Popprs", "CITY", "Colombo")["suggestions"] == [], "there are none there"
    assert browser.json("BROWSE", "TEXT", "poppers", "CITY", "Colombo")["suggestions"] == [], "it is no slip"
    assert browser.json("OUTLETS", "TEXT", "harbor")["suggestions"] == ["harbour"]
    assert "suggestions" not in browser.json("BROWSE", "CITY", "Nowhere")
    assert "suggestions" not in browser.json("BROWSE.SAVE", "slip", "TEXT", "rcie")


def test_a_surprise_is_one_of_the_matches(browser):
    seen = {browser.json("SURPRISE", "TAG", "hot")["item"] for _ in range(200)}
    assert seen == FILTERS["TAG", "hot"]
    assert len({browser("SURPRISE", "TAG", "hot", "SEED", 7) for _ in range(5)}) == 1
    assert {browser.json("SURPRISE", "SEED", seed)["item"] for seed in range(200)} == ITEMS
    assert browser("SURPRISE", "TEXT", "nothing") is None


@pytest.mark.parametrize(("words", "code"), [
    (("COLOUR", "red"), "ERR"), (("TEXT",), "ERR"), (("PRICE", "1"), "ERR"), (("OPEN", "OPEN"), "ERR"), (("NOT", "SORT", "name"), "ERR"),
    (("KIND", ""), "INVALID"), (("RATING", "5", "4"), "INVALID"), (("TAG", "hot", "="), "INVALID"),
    (("SEED", "1"), "ERR"), (("",), "ERR"),
    (("TEXT", "!!!"), "INVALID"), (("TEXT", " ".join("abc" for _ in range(33))), "INVALID"), (("PRICE", "2", "1"), "INVALID"),
    (("PRICE", "x", "1"), "INVALID"), (("PRICE", "0", "9223372036854775808"), "INVALID"), (("RATING", "4.555"), "INVALID"),
    (("RATING", "-0.5"), "INVALID"), (("DELIVERY", "soon"), "INVALID"), (("LIMIT", "0"), "INVALID"), (("LIMIT", "101"), "INVALID"),
    (("LIMIT", "+5"), "INVALID"), (("PRICE", "+1", "05"), "INVALID"), (("RATING", "04"), "INVALID"), (("DELIVERY", "+30"), "INVALID"),
    (("SORT", "colour"), "INVALID"), (("AFTER", "nonsense"), "INVALID"), (("CITY", b"\xff"), "INVALID"),
    (("OUTLET", "nowhere"), "NOTFOUND"), (("OUTLET", "not an id"), "NOTFOUND"),
], ids=str)
def test_a_query_that_cannot_be_answered_is_an_error_that_says_so(browser, words, code):
    for command in ("BROWSE", "OUTLETS"):
        error = browser.error(command, *words)
        assert error.code == code, error
        if code == "INVALID" and words[0] != "CITY":
            assert words[0] in str(error)


def test_a_cursor_belongs_to_its_query(browser):
    after = browser.json("BROWSE", "TAG", "hot", "LIMIT", 2)["next"]
    assert len(browser.json("BROWSE", "TAG", "hot", "LIMIT", 1, "FACETS", "AFTER", after)["items"]) == 1
    for command, *words in (("BROWSE", "TAG", "veg"), ("BROWSE",), ("OUTLETS", "TAG", "hot"), ("BROWSE", "TAG", "hot", "SORT", "price")):
        assert browser.error(command, *words, "AFTER", after).code == "INVALID"


def test_a_cursor_can_be_used_with_its_filters_in_any_order_and_case(browser):
    words = ("TAG", "hot", "CUISINE", "sri lankan", "Chinese", "CITY", "Colombo", "RATING", "4", "PRICE", "0", "200000")
    after = browser.json("BROWSE", *words, "LIMIT", 1)["next"]
    rest = browser.json("BROWSE", *words, "AFTER", after)
    for same in (
        ("city", "COLOMBO", "price", "0", "200000", "rating", "4.00", "cuisine", "chinese", "Sri Lankan", "tag", "Hot"),
        ("TAG", "hot", "TAG", "HOT", *words[2:]),
    ):
        assert browser.json("BROWSE", *same, "AFTER", after) == rest


def test_a_cursor_outlives_its_server(own):
    server, client = own
    pages = [client.json("BROWSE", "SORT", "price", "LIMIT", 3)]
    server.kill()
    with server.start().client() as client:
        pages.append(client.json("BROWSE", "SORT", "price", "LIMIT", 3, "AFTER", pages[0]["next"]))
        # A listing that moves is found at its new place: after the last page, and not a second time before it.
        client("MENU.ITEM.PRICE", "harbour", "rice", 60000)
        pages.append(client.json("BROWSE", "SORT", "price", "LIMIT", 3, "AFTER", pages[1]["next"]))
    assert [item["item"] for page in pages for item in page["items"]] == SORTS["price"]


def insert_corrupt_event(database, client, stream):
    position = client.json("LOG.HEAD")[0]["position"] + 1
    tamper(f"""
        insert into tiffin.events values (0, {position}, '{stream}', 99, 'menu.sectionAdded', 1, '"no section"', '{{}}', now());
        update tiffin.log_head set position = {position};
    """, database)


def test_nothing_found_no_menu_no_outlet_and_damage_are_told_apart(own, database):
    server, client = own
    assert client.json("BROWSE", "OUTLET", "harbour")["state"] == "ready"
    assert client.json("BROWSE", "OUTLET", "harbour", "TEXT", "nothing")["state"] == "empty"
    assert client.json("BROWSE", "OUTLET", "empty")["state"] == "noMenu"
    assert client.error("BROWSE", "OUTLET", "nowhere").code == "NOTFOUND"
    insert_corrupt_event(database, client, "menu-hill")

    def check(client):
        wait_until(lambda: client.json("BROWSE")["total"] == 4, "the damage to be seen", seconds=5)
        for command in ("BROWSE", "OUTLETS", "SURPRISE"):
            assert client.error(command, "OUTLET", "hill").code == "CORRUPT"
        # None of it is found by any filter, and everything else is.
        for words in FILTERS:
            if words[0] != "OUTLET":
                assert set(found(client, *words)) == FILTERS[words] & {"kottu", "rice", "dosai", "curd"}, words
        for words in OUTLETS:
            assert set(found(client, *words, command="OUTLETS")) == OUTLETS[words] - {"hill"}, words
        counts = client.json("OUTLETS", "FACETS")["facets"]
        assert {value["value"] for value in counts["kinds"]} == {"menuItem", "dessert"}

    check(client)
    # A new outlet gets its row, and nothing of the old one.
    client("OUTLET.PUT", "new", json.dumps(outlet_document("New", city="Galle")))
    assert found(client, "CITY", "galle", command="OUTLETS") == ["new"]
    assert "new" not in found(client, "TAG", "hot", command="OUTLETS")
    server.kill()
    with server.start().client() as client:
        client.json("BROWSE")
        assert found(client, "CITY", "galle", command="OUTLETS") == ["new"]
        wait_until(lambda: client.json("BROWSE")["total"] == 4, "the damage to be seen", seconds=5)
        assert client.error("BROWSE", "OUTLET", "hill").code == "CORRUPT"


def test_the_next_query_sees_changes(own):
    _, client = own
    assert found(client, "SORT", "price")[:2] == ["curd", "dosai"]
    client("MENU.ITEM.PRICE", "harbour", "rice", 100)
    assert found(client, "SORT", "price")[:2] == ["rice", "curd"]
    assert found(client, "PRICE", 100, 100) == ["rice"]
    client("MENU.ITEM.SUSPEND", "harbour", "rice")
    client("MENU.ITEM.SUSPEND", "hill", "thali", "UNTIL", FUTURE)
    assert set(found(client, "OPEN")) == ITEMS - {"rice", "thali"}
    client("MENU.ITEM.RESUME", "harbour", "rice")
    client("OUTLET.PAUSE", "hill", "UNTIL", FUTURE)
    assert set(found(client, "OPEN")) == {"kottu", "rice", "dosai", "curd"}
    client("MENU.ITEM.REMOVE", "harbour", "curd")
    client("MENU.ITEM.PUT", "harbour", "lunch", "ice", json.dumps(item_document("ice", 30000, name="Glacé", kind="dessert")))
    assert found(client, "TEXT", "glace") == found(client, "KIND", "dessert") == ["ice"]
    client("MENU.SECTION.REMOVE", "harbour", "lunch")
    assert found(client, "OUTLET", "harbour") == []
    # Outlets that differ late in their names, renamed.
    for number in range(3):
        client("OUTLET.PUT", f"r{number}", json.dumps(outlet_document(f"Restaurant {number}", city="Galle")))
    client("OUTLET.PUT", "r0", json.dumps(outlet_document("Restaurant 9", city="Galle")))
    assert found(client, "CITY", "galle", "SORT", "name", command="OUTLETS") == ["r1", "r2", "r0"]


def test_turning_pages_while_prices_move_shows_each_item_once(own):
    _, client = own
    first = client.json("BROWSE", "SORT", "price", "LIMIT", 3)
    client("MENU.ITEM.PRICE", "harbour", "curd", 999999)  # seen already, and now later
    client("MENU.ITEM.PRICE", "hill", "chicken", 1)  # not seen yet, and now earlier
    rest = client.json("BROWSE", "SORT", "price", "AFTER", first["next"])
    assert [item["item"] for page in (first, rest) for item in page["items"]] == SORTS["price"]
    assert {item["item"]: item["price"] for item in rest["items"]}["chicken"] == 1


def answers(client) -> list:
    questions = [("BROWSE", *words, "FACETS") for words in FILTERS] + [("BROWSE", "SORT", sort) for sort in SORTS]
    questions += [("OUTLETS", *words, "FACETS") for words in OUTLETS] + [("SURPRISE", "SEED", n) for n in range(5)]
    return client.pipeline(questions)


def test_two_servers_give_the_same_answers(own, database):
    server, client = own
    with Server(database=database) as second, second.client() as other:
        client("MENU.ITEM.PRICE", "harbour", "rice", 100)
        client("OUTLET.PAUSE", "hill", "UNTIL", FUTURE)
        wait_until(lambda: answers(other) == answers(client), "the other server to see the change", seconds=5)
        other("OUTLET.OPEN", "hill")
        wait_until(lambda: answers(other) == answers(client), "the first server to see the change", seconds=5)
        # Both understand the same cursor.
        after = client.json("BROWSE", "SORT", "name", "LIMIT", 3)["next"]
        assert [item["item"] for item in other.json("BROWSE", "SORT", "name", "AFTER", after)["items"]] == SORTS["name"][3:]


def test_several_partitions_are_browsed_as_one(database):
    assert tiffin.run_tiffin("migrate", "--database", database, "--partitions", 4).returncode == 0
    server = Server(database=database)
    try:
        for _ in range(2):
            with server.start().client() as client:
                put_kitchens(client)
                for words in FILTERS:
                    assert set(found(client, *words, "LIMIT", 3)) == FILTERS[words]
                assert found(client, "SORT", "price", "LIMIT", 2) == SORTS["price"]
            server.kill()
    finally:
        server.kill()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_answers_are_the_same_after_a_restart(own, end):
    server, client = own
    client("MENU.ITEM.PRICE", "harbour", "rice", 100)
    client("MENU.ITEM.SUSPEND", "hill", "thali", "UNTIL", FUTURE)
    client("MENU.ITEM.REMOVE", "harbour", "curd")
    before = answers(client)
    after = client.json("BROWSE", "SORT", "name", "LIMIT", 2)["next"]
    rest = client.json("BROWSE", "SORT", "name", "AFTER", after)["items"]
    getattr(server, end)()
    with server.start().client() as again:
        assert answers(again) == before
        assert again.json("BROWSE", "SORT", "name", "AFTER", after)["items"] == rest
