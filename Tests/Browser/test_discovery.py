"""Discovery in a browser: what is found is what the line protocol finds, and the filters are in the address."""

import json
import random
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from site_under_test import FRAMES, Site, cart, use_scheme, violations, wait_for_badge, wait_for_cart
from tiffin import ReplyError, fresh_database, item_document, put_open_outlet, section_document, wait_until

SEED = 20_260_303
# How often the page looks again where it is not live, on average, in milliseconds.
LOOK_AGAIN = 5000
# The most queries that a server keeps for one address.
MOST_SAVED = 50
CUISINES = ["Thai", "Lao", "Bakery", "Tamil"]


@pytest.fixture(scope="module")
def town(browser):
    """A server of its own with twelve outlets of two currencies, and a client of it."""
    dice = random.Random(SEED)
    with fresh_database() as url, Site(url) as site, site.server.client() as client:
        for n in range(12):
            put_open_outlet(client, f"place{n}", [section_document("all", [
                item_document(
                    f"dish{n}-{k}", dice.randrange(300, 4000),
                    name=f"{dice.choice(['Chicken', 'Lentil', 'Apple'])} {dice.choice(['Pie', 'Soup', 'Curry'])} {n}{k}",
                    cuisine=dice.choice(CUISINES), tags=dice.sample(["spicy", "vegan", "cold"], 2),
                    attributes={"serves": dice.randrange(1, 6), "colour": dice.choice(["red", "green"])})
                for k in range(10)
            ])], name=f"Place {n}", currency="GBP" if n < 8 else "EUR", rating=3 + n % 5 / 2.5,
                deliveryMinutes=15 + 5 * n, cuisines=[CUISINES[n % 4]])
        yield site, client


@pytest.fixture
def open_feed(town, visit):
    site, _ = town
    return lambda query="", **options: visit(f"/discover{query}", of=site, **options)


def found(page):
    """The items in the page, in their order."""
    return page.evaluate("""() => [...document.querySelectorAll(".results > .item")]
        .map(({ dataset }) => `${dataset.outlet}/${dataset.item}`)""")


def asked(client, *question):
    answer = client.json("BROWSE", *question, "LIMIT", 24)
    return [f"{item['outlet']}/{item['item']}" for item in answer["items"]], answer["total"]


def wait_for_answer(page, client, *question):
    rows, total = asked(client, *question)
    text = "Nothing found" if total == 0 else "1 dish" if total == 1 else f"{total} dishes"

    def shown():
        return found(page)[:24], page.get_by_test_id("result_count").text_content()

    try:
        wait_until(lambda: shown() == (rows, text), "the answer")
    except TimeoutError:
        assert shown() == (rows, text)


def test_a_search_follows_what_is_typed(open_feed, town):
    page, client = open_feed(), town[1]
    wait_for_answer(page, client)
    field = page.get_by_test_id("search_field")
    field.press_sequentially("lentil")
    wait_for_answer(page, client, "TEXT", "=lentil")
    asked_for = set()
    page.on("request", lambda request: asked_for.update(parse_qs(urlsplit(request.url).query).get("text", [])))
    # Whoever types without a pause asks once.
    field.evaluate("""(field) => {
        field.value = "";
        for (const letter of "chicken pie") {
            field.value += letter;
            field.dispatchEvent(new Event("input"));
        }
    }""")
    wait_for_answer(page, client, "TEXT", "=chicken", "=pie")
    assert asked_for - {"lentil"} == {"chicken pie"}
    assert "text=chicken+pie" in page.url
    field.fill("chikcen")
    page.locator(".blank .chip", has_text="chicken").click()
    wait_for_answer(page, client, "TEXT", "=chicken")
    field.fill("")
    wait_for_answer(page, client)


def test_filters_find_what_the_line_protocol_finds_and_survive_a_reload(open_feed, town):
    page, client = open_feed(), town[1]
    wait_for_answer(page, client)
    chips = page.locator("[data-key=cuisine]")
    before = chips.evaluate_all("(chips) => chips.map((chip) => chip.dataset.value)")
    chips.filter(has_text="Thai").click()
    wait_for_answer(page, client, "CUISINE", "=Thai")
    chips.filter(has_text="Lao").click()
    wait_for_answer(page, client, "CUISINE", "=Thai", "=Lao")
    assert chips.evaluate_all("(chips) => chips.map((chip) => chip.dataset.value)") == before
    page.locator("summary").click()
    page.locator("[data-key=currency]", has_text="GBP").click()
    wait_for_answer(page, client, "CUISINE", "=Thai", "=Lao", "CURRENCY", "=GBP")
    page.get_by_label("Rating, least").press("ArrowRight")
    rating = page.get_by_label("Rating, least").input_value()
    wait_for_answer(page, client, "CUISINE", "=Thai", "=Lao", "CURRENCY", "=GBP", "RATING", rating, "*")
    most = page.get_by_label("Price, most")
    for _ in range(8):
        most.press("ArrowLeft")
    question = ["CUISINE", "=Thai", "=Lao", "CURRENCY", "=GBP", "RATING", rating, "*", "PRICE", "*", most.input_value()]
    wait_for_answer(page, client, *question)
    assert violations(page) == []
    page.get_by_label("Name of an attribute").fill("serves")
    page.get_by_role("button", name="Filter by it").click()
    page.get_by_label("serves, most").press("ArrowLeft")
    question += ["ATTR", "serves", "*", page.get_by_label("serves, most").input_value()]
    wait_for_answer(page, client, *question)
    page.locator("main select").select_option("price")
    page.reload()
    wait_for_answer(page, client, *question, "SORT", "price")
    assert chips.filter(has_text="Lao").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Remove").click()
    chips.filter(has_text="Lao").click()
    wait_for_answer(page, client, "CUISINE", "=Thai", *question[3:-4], "SORT", "price")


def test_words_of_an_attribute_are_chips(open_feed, town):
    page, client = open_feed(), town[1]
    page.locator("summary").click()
    page.get_by_label("Name of an attribute").fill("colour")
    page.get_by_role("button", name="Filter by it").click()
    page.locator("[data-key='attr.colour']", has_text="green").click()
    wait_for_answer(page, client, "ATTR", "colour", "ANY", "=green")
    page.locator("[data-key='attr.colour']", has_text="red").click()
    wait_for_answer(page, client, "ATTR", "colour", "ANY", "=green", "=red")


def test_more_comes_while_somebody_scrolls_and_news_waits_for_a_tap(open_feed, town):
    page, client = open_feed("?sort=name"), town[1]
    wait_for_answer(page, client, "SORT", "name")

    def scroll_down():
        page.evaluate("() => scrollTo({ top: 1e6, behavior: 'instant' })")
        return len(found(page)) == 120

    wait_until(scroll_down, "all rows")
    assert len(set(found(page))) == 120
    page.evaluate("() => scrollTo({ top: 2500, behavior: 'instant' })")
    page.evaluate(FRAMES)
    before = page.evaluate("() => document.elementFromPoint(100, 500).closest('.item').getBoundingClientRect().top")
    # What is new comes by the stream: no question is answered any more.
    page.route("**/v1/browse?*", lambda route: route.abort())
    for n in range(3):
        client("MENU.ITEM.PUT", "place0", "all", f"aaa{n}", json.dumps(item_document(f"aaa{n}", 100, name=f"AAA {n}")))
    client("MENU.ITEM.PRICE", "place0", "dish0-0", 3999)
    page.get_by_test_id("new_results_btn").filter(has_text="3 new").wait_for()
    assert page.evaluate("() => document.elementFromPoint(100, 500).closest('.item').getBoundingClientRect().top") == before
    page.get_by_test_id("new_results_btn").click()
    wait_for_answer(page, client, "SORT", "name")
    assert page.evaluate("() => scrollY") == 0
    # What has only gone is gone as soon as nobody reads below it.
    page.evaluate("() => scrollTo({ top: 600, behavior: 'instant' })")
    page.evaluate(FRAMES)
    client("MENU.ITEM.REMOVE", "place0", "aaa2")
    page.get_by_test_id("result_count").filter(has_text="122 dishes").wait_for()
    page.evaluate("() => scrollTo({ top: 0, behavior: 'instant' })")
    wait_for_answer(page, client, "SORT", "name")
    client("MENU.ITEM.PUT", "place0", "all", "aaa2", json.dumps(item_document("aaa2", 100, name="AAA 2")))
    wait_for_answer(page, client, "SORT", "name")
    for n in range(3):
        client("MENU.ITEM.REMOVE", "place0", f"aaa{n}")
    wait_for_answer(page, client, "SORT", "name")
    # The rows behind the first page are there again as soon as questions are answered.
    page.unroute("**/v1/browse?*")
    wait_until(scroll_down, "all rows again")


def test_a_feed_that_the_server_cannot_follow_says_so_and_looks_again(open_feed, town):
    site, client = town
    with site.server.client() as other:

        def fills_up():
            replies = other.pipeline(("BROWSE.SAVE", f"mine{n}", "COUNT", 1) for n in range(MOST_SAVED))
            return not any(isinstance(reply, ReplyError) for reply in replies)

        wait_until(fills_up, "the end of the feeds of before to be noticed")
        page = open_feed("?text=lentil", clock=True)
        page.get_by_test_id("not_live").wait_for()
        assert violations(page) == []
        client("MENU.ITEM.PUT", "place1", "all", "aaa", json.dumps(item_document("aaa", 100, name="Lentil Soda")))
        page.clock.fast_forward(2 * LOOK_AGAIN)
        wait_for_answer(page, client, "TEXT", "=lentil")
    client("MENU.ITEM.REMOVE", "place1", "aaa")
    page.get_by_test_id("search_field").fill("lentil s")
    page.get_by_test_id("not_live").wait_for(state="hidden")
    wait_for_answer(page, client, "TEXT", "=lentil", "=s")


def test_a_long_list_is_in_the_page_by_windows(open_feed, town):
    client = town[1]
    places = 480
    put_open_outlet(client, "long", [section_document("all", [
        item_document(f"row{n:04}", 100 + n, name=f"Row {n:04}") for n in range(places)])])
    page = open_feed("?outlet=long&sort=name&view=list")
    page.get_by_test_id("result_count").filter(has_text=f"{places} dishes").wait_for()
    most = 0

    def look():
        """What is in the page, and what is at its upper edge, where it has to be by its place."""
        shown, top, isRight = page.evaluate("""() => {
            const rows = [...document.querySelectorAll(".results > .item")];
            const list = document.querySelector(".results");
            const places = rows.map((row) => Number(row.getAttribute("aria-posinset")) - 1);
            const at = (row) => row.getBoundingClientRect().top - list.getBoundingClientRect().top;
            const height = rows[0].getBoundingClientRect().height;
            const columns = getComputedStyle(list).gridTemplateColumns.split(" ").length;
            const isRight = rows.every((row, n) => Math.abs(at(row) - Math.floor(places[n] / columns) * height) < 1);
            const top = document.elementFromPoint(100, 300)?.closest(".results > .item")?.dataset.item ?? null;
            return [rows.map((row) => row.dataset.item ?? null), top, isRight];
        }""")
        assert isRight, "a row is not at its place"
        return shown, top

    def go_on():
        nonlocal most
        page.evaluate("() => scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })")
        shown, _ = look()
        most = max(most, len(shown))
        return f"row{places - 1:04}" in shown

    wait_until(go_on, "the end of the list")
    assert most <= 240, "so many rows are in the page at most"
    # Back in steps: what is not kept any more is read again.
    page.evaluate("() => { window.bottom = scrollY; }")
    for part in (0.6, 0.3, 0.1):
        page.evaluate("(part) => scrollTo({ top: window.bottom * part, behavior: 'instant' })", part)
        wait_until(lambda: (now := look())[1] is not None and None not in now[0], "the rows of before")
        shown, _ = look()
        assert len(shown) <= 240 and shown == sorted(shown)
    page.locator(".results .add").nth(20).focus()
    page.evaluate("() => scrollTo({ top: 0, behavior: 'instant' })")
    wait_until(lambda: look()[0][0] == "row0000", "the first row")
    assert page.evaluate("() => document.activeElement.closest('.results') !== null"), "the focus stays in the list"
    client("OUTLET.REMOVE", "long")


def test_places_and_lists_and_what_is_added_from_here(open_feed):
    page = open_feed()
    page.get_by_role("button", name="List").click()
    assert page.get_by_test_id("results").evaluate("(list) => list.classList.contains('list')")
    page.locator(".results .add").first.click()
    wait_for_cart(page, 1)
    wait_for_badge(page, 1)
    page.locator(".results .open").first.click()
    page.locator("#item-sheet .large img[src*=large]").wait_for()
    page.go_back()
    page.get_by_role("button", name="Places").click()
    page.locator("[data-testid=result_count]", has_text="12 places").wait_for()
    page.get_by_test_id("search_field").fill("place 3")
    page.locator("[data-testid=result_count]", has_text="1 place").wait_for()
    page.locator(".results a.open").click()
    page.wait_for_url("**/o/place3")
    assert cart(page)["count"] == 1


def test_who_cannot_decide_gets_one_of_the_matches(open_feed, town):
    page, client = open_feed("?cuisine=Tamil"), town[1]
    matches = {item["name"] for item in client.json("BROWSE", "CUISINE", "Tamil", "LIMIT", 100)["items"]}
    # The order of the list has nothing to do with it.
    page.locator("main select").select_option("name")
    page.get_by_test_id("choose_one_btn").click()
    assert page.locator("#item-sheet h2").text_content() in matches
    assert violations(page) == []


def test_an_item_in_the_address_is_open_and_leads_back(open_feed):
    page = open_feed("?sort=name")
    opener = page.locator(".results .open").first
    name = opener.text_content()
    opener.click()
    sheet = page.locator("#item-sheet h2")
    sheet.filter(has_text=name).wait_for()
    page.reload()
    sheet.filter(has_text=name).wait_for()
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "item=" not in url)
    # What is asked next has only filters in its address.
    page.get_by_role("button", name="Places").click()
    page.locator("[data-testid=result_count]", has_text="12 places").wait_for()
    assert "item=" not in page.url
    page.get_by_role("button", name="Dishes").click()
    opener.filter(has_text=name).click()
    sheet.filter(has_text=name).wait_for()
    page.go_back()
    sheet.wait_for(state="detached" if sheet.count() == 0 else "hidden")
    page.go_forward()
    sheet.filter(has_text=name).wait_for()


def test_a_place_that_closes_closes_an_open_item_too(open_feed, town):
    page, client = open_feed("?outlet=place2"), town[1]
    page.locator(".results .open").first.click()
    add = page.get_by_test_id("item_add_btn")
    add.and_(page.locator(":not([aria-disabled])")).wait_for()
    client("OUTLET.CLOSE", "place2")
    page.locator("#item-sheet").get_by_text("The place takes no orders now").wait_for()
    client("OUTLET.OPEN", "place2")
    add.and_(page.locator(":not([aria-disabled])")).wait_for()


def test_a_place_that_opens_by_itself_takes_orders_from_then_on(open_feed, town):
    client = town[1]
    until = datetime.now(UTC) + timedelta(seconds=8)
    client("OUTLET.PAUSE", "place5", "UNTIL", until.isoformat(timespec="seconds").replace("+00:00", "Z"))
    page = open_feed("?outlet=place5")
    add = page.locator(".results .add").first
    add.and_(page.locator("[aria-disabled]")).wait_for()
    add.and_(page.locator(":not([aria-disabled])")).wait_for()
    assert datetime.now(UTC) > until - timedelta(seconds=1)
    client("OUTLET.OPEN", "place5")


def test_prices_are_those_of_what_is_looked_for(open_feed):
    page = open_feed("?currency=GBP")
    price = page.get_by_role("group", name="Price", exact=True)
    price.wait_for()
    page.get_by_role("button", name="Places").click()
    page.locator("[data-testid=result_count]", has_text="8 places").wait_for()
    assert price.count() == 0


def test_a_chip_is_the_filter_of_the_same_word(open_feed, town):
    page, client = open_feed("?cuisine=thai"), town[1]
    wait_for_answer(page, client, "CUISINE", "Thai")
    chip = page.locator("[data-key=cuisine]", has_text="Thai")
    assert chip.get_attribute("aria-pressed") == "true"
    chip.click()
    wait_for_answer(page, client)


def test_nothing_jumps_while_the_page_comes(open_feed):
    page = open_feed()
    page.locator(".results .item").first.wait_for()
    shift = page.evaluate("""() => new Promise((done) => {
        let shift = 0;
        new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => { shift += value; }))
            .observe({ type: "layout-shift", buffered: true });
        setTimeout(() => done(shift), 200);
    })""")
    assert shift < 0.005


def test_nothing_found_and_a_wrong_question_look_different(open_feed):
    page = None
    for query, text in (
        ("?text=zzzz&rating=6,", "Nothing matches"), ("?rating=four,", "cannot be searched"), ("?price=1,2", "cannot be searched"),
    ):
        if page:
            page.goto(page.url.partition("?")[0] + query)
        else:
            page = open_feed(query)
        page.locator(".blank", has_text=text).wait_for()
        assert violations(page) == []


def test_what_is_found_begins_near_the_top_of_a_phone_and_names_its_place(open_feed, town):
    client = town[1]
    name = "The Restaurant at the End of the Very Long Lane"
    put_open_outlet(client, "lane", [section_document("all", [
        item_document(f"lane{n}", 100, name=f"Lane {n}", cuisine=f"Cuisine {n}") for n in range(12)])],
        name=name, city="Kandy", area="Lake Side")
    page = open_feed()
    first = page.locator(".results .item").first
    first.wait_for()
    assert page.locator("[data-key=cuisine]").count() >= 12
    assert first.bounding_box()["y"] <= 320
    page.locator("summary").click()
    for key, value in (("area", "Lake Side"), ("city", "Kandy")):
        chip = page.locator(f"[data-key={key}]", has_text=value)
        chip.click()
        wait_for_answer(page, client, key.upper(), value)
        if key == "area":
            chip.click()
    place = first.get_by_role("link", name=name)
    place.click()
    page.wait_for_url("**/o/lane")
    client("OUTLET.REMOVE", "lane")


def test_discovery_stands_in_nobodys_way(open_feed):
    page = open_feed("?currency=GBP", reduced_motion="reduce")
    page.locator(".results .item").first.wait_for()
    for scheme, width in (("light", 320), ("dark", 1280)):
        use_scheme(page, scheme)
        page.set_viewport_size({"width": width, "height": 844})
        assert violations(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
