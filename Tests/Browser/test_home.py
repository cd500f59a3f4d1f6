"""The home of an outlet in a browser."""

import json
import random

import pytest
from site_under_test import (
    FRAMES, badge, cart, put_kitchen, violations, wait_for_badge, wait_for_cart, wait_for_home,
)
from tiffin import item_document, outlet_document, wait_until

SEED = 20_260_302


@pytest.fixture
def kitchen(merchant, name):
    put_kitchen(merchant, name)
    return name


# --- what is shown


def test_the_home_has_every_section_and_item_with_its_accessibility_id(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    wait_for_home(page, merchant, kitchen)
    assert page.locator("main").get_attribute("data-testid") == "outlet_scroll"
    assert page.get_by_test_id("dessert_add_btn").count() == 5
    chips = [link.get_attribute("data-testid") for link in page.locator(".tag-bar a").all()]
    assert chips == [chip["id"] for chip in merchant.json("OUTLET.TAGS", kitchen)["chips"]]


@pytest.mark.parametrize("width, text", [(320, 16), (390, 16), (1280, 16), (390, 32)])
def test_every_size_is_known_before_anything_is_drawn(visit, kitchen, width, text):
    page = visit(f"/o/{kitchen}", viewport={"width": width, "height": 700})
    if text != 16:
        page.evaluate("(size) => { document.documentElement.style.fontSize = `${size}px`; }", text)
        page.set_viewport_size({"width": width + 1, "height": 700})
    page.evaluate(FRAMES)
    sizes = page.evaluate("""() => [...document.querySelectorAll(".section")].map((section) => {
        section.style.contentVisibility = "visible";
        section.style.blockSize = "auto";
        const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
        const said = parseFloat(section.style.getPropertyValue("--size")) * rem;
        return [section.dataset.section, Math.round(said - section.getBoundingClientRect().height)];
    })""")
    # Behind the last item of lists and grids there is a point of an edge; cards have it below their scroll bar.
    assert all(abs(difference) <= text for _, difference in sizes), sizes
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "nothing may scroll sideways"


def test_a_home_follows_every_change(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    dice = random.Random(SEED)
    wait_for_home(page, merchant, kitchen)
    for step in range(25):
        sections = merchant.json("MENU.GET", kitchen)["sections"]
        section = dice.choice([each for each in sections if each["items"]])
        item = dice.choice(section["items"])["id"]
        match dice.randrange(6):
            case 0:
                merchant("MENU.ITEM.PRICE", kitchen, item, dice.randrange(1, 5000))
            case 1:
                merchant("MENU.ITEM.SUSPEND", kitchen, item)
            case 2:
                merchant("MENU.ITEM.REMOVE", kitchen, item)
            case 3:
                new = item_document(f"new{step}", 777, name=f"New {step}")
                merchant("MENU.ITEM.PUT", kitchen, section["id"], f"new{step}", json.dumps(new), "BEFORE", item)
            case 4:
                other = dice.choice(sections)
                moved = next(each for each in section["items"] if each["id"] == item)
                merchant("MENU.ITEM.PUT", kitchen, other["id"], item, json.dumps(moved))
            case 5:
                other = dice.choice(sections)["id"]
                if other != section["id"]:
                    merchant("MENU.SECTION.PUT", kitchen, section["id"], json.dumps({
                        key: section[key] for key in ("id", "title", "kind", "layout", "sticky")}), "BEFORE", other)
    wait_for_home(page, merchant, kitchen)


def test_the_focus_survives_patches(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    wait_for_home(page, merchant, kitchen)
    page.locator("[data-item=lunch3] .add").focus()

    def focused():
        return page.evaluate("""() => {
            const focused = document.activeElement;
            return [focused.closest(".item")?.dataset.item, focused.dataset.focus];
        }""")

    merchant("MENU.ITEM.PRICE", kitchen, "lunch3", 4321)
    merchant("MENU.ITEM.SUSPEND", kitchen, "lunch3")
    sections = merchant.json("MENU.GET", kitchen)["sections"]
    lunch3 = next(item for section in sections for item in section["items"] if item["id"] == "lunch3")
    merchant("MENU.ITEM.PUT", kitchen, "lunch", "lunch3", json.dumps(lunch3), "BEFORE", "lunch0")
    wait_for_home(page, merchant, kitchen)
    assert focused() == ["lunch3", "add"]
    merchant("MENU.ITEM.REMOVE", kitchen, "lunch3")
    wait_for_home(page, merchant, kitchen)
    assert focused() == ["lunch0", "add"]
    merchant("MENU.SECTION.REMOVE", kitchen, "lunch")
    wait_for_home(page, merchant, kitchen)
    assert page.evaluate("() => document.activeElement !== document.body")


@pytest.mark.parametrize("command, options, text", [
    ("OUTLET.CLOSE", [], "Closed"),
    ("OUTLET.PAUSE", ["UNTIL", "2999-01-01T00:00:00Z", "REASON", "a broken oven"], "a broken oven"),
])
def test_where_no_orders_are_taken_nothing_can_be_added(visit, merchant, kitchen, command, options, text):
    page = visit(f"/o/{kitchen}")
    assert page.locator(".status").text_content() == "Open"
    merchant(command, kitchen, *options)
    page.locator(".status", has_text=text).wait_for()
    add = page.locator("[data-item=breakfast0] .add")
    assert add.get_attribute("aria-disabled") == "true"
    add.click(force=True)
    assert badge(page) == 0
    merchant("OUTLET.OPEN", kitchen)
    page.locator(".status", has_text="Open").wait_for()
    add.click()
    wait_for_badge(page, 1)


def test_each_screen_without_items_says_why(visit, merchant, name):
    merchant("OUTLET.PUT", name, json.dumps(outlet_document()))
    page = visit(f"/o/{name}")
    assert "The menu is empty" in page.locator(".blank").text_content()
    merchant("MENU.FEED.PUT", name, json.dumps({"state": "malformed", "problems": ["1: bad"]}))
    page.locator(".blank", has_text="could not be read").wait_for()
    assert violations(page) == []
    merchant("MENU.SECTION.PUT", name, "lunch", json.dumps({"title": "Lunch", "kind": "menuItems"}))
    merchant("MENU.ITEM.PUT", name, "lunch", "rice", json.dumps({"kind": "menuItem", "name": "Rice", "price": 100}))
    page.locator("[data-item=rice]").wait_for()
    assert page.locator(".blank").count() == 0
    merchant("OUTLET.REMOVE", name)
    page.locator(".blank", has_text="gone for good").wait_for()
    unknown = visit("/o/nobody-has-this-id")
    assert "no such place" in unknown.locator(".blank").text_content()


def test_texts_are_texts_and_go_their_own_way(visit, merchant, name):
    put_kitchen(merchant, name, name="</script><b>مطعم</b>")
    merchant("MENU.ITEM.PUT", name, "lunch", "lunch0", json.dumps(
        item_document("lunch0", 5, name="<img src=x onerror=alert(1)>", description="كباب مشوي")))
    page = visit(f"/o/{name}")
    assert page.locator("h1").text_content() == "</script><b>مطعم</b>"
    item = page.locator("[data-item=lunch0]")
    assert item.locator(".open").text_content() == "<img src=x onerror=alert(1)>"
    assert item.locator(".description").evaluate("(node) => getComputedStyle(node).direction") == "rtl"
    assert item.locator(".name").evaluate("(node) => getComputedStyle(node).direction") == "ltr"


# --- the tag bar


VISIBLE = """() => {
    const top = document.querySelector(".top").getBoundingClientRect().bottom;
    return document.querySelector(".hero").getBoundingClientRect().bottom - top;
}"""


def scroll_to_visible(page, points):
    """Scrolls until that many points of the outlet's header are visible."""
    page.evaluate("""(points) => new Promise((done) => {
        const top = document.querySelector(".top").getBoundingClientRect().bottom;
        const bottom = document.querySelector(".hero").getBoundingClientRect().bottom;
        scrollBy({ top: bottom - top - points, behavior: "instant" });
        requestAnimationFrame(() => requestAnimationFrame(done));
    })""", points)


def test_the_bar_shows_below_36_points_of_the_header_and_hides_above_72(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    dice = random.Random(SEED)
    shown, steps = False, [80, 60, 37, 36, 35, 50, 70, 72, 73, 50, 20, 60, 90, -400, 71, 40, 100]
    for points in steps + [dice.choice([dice.randrange(-600, 130), dice.randrange(30, 80)]) for _ in range(60)]:
        scroll_to_visible(page, points)
        visible = page.evaluate(VISIBLE)
        assert abs(visible - points) <= 1
        shown = True if visible < 36 else False if visible > 72 else shown
        # A busy browser may take a frame longer to say what it has seen.
        page.wait_for_function("(shown) => ('shown' in document.querySelector('.tag-bar').dataset) === shown", arg=shown)


def test_a_chip_leads_to_its_section_and_is_current_there(visit, kitchen):
    page = visit(f"/o/{kitchen}", viewport={"width": 390, "height": 600})
    scroll_to_visible(page, -50)
    for section in ("dinner", "breakfast", "shelf"):
        page.locator(f".tag-bar a[data-section={section}]").click()
        current = page.locator(".tag-bar a[aria-current]")
        assert current.get_attribute("data-section") == section
        wait_until(lambda: abs(page.evaluate("""(section) => {
            const bar = document.querySelector(".tag-bar").getBoundingClientRect().bottom;
            return document.querySelector(`#s-${section}`).getBoundingClientRect().top - bar;
        }""", section)) <= 1, 5, f"{section} to be at the top")
        assert page.evaluate("() => document.activeElement.textContent") == section.title()
        assert current.get_attribute("data-section") == section
    # While somebody scrolls, the chip is that of the section below the bar.
    for section in ("lunch", "dinner", "breakfast"):
        wait_until(lambda: page.evaluate("""async (section) => {
            const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            scrollTo({ top: 0, behavior: "instant" });
            await frames();
            document.querySelector(`#s-${section}`).scrollIntoView({ behavior: "instant" });
            scrollBy({ top: 30, behavior: "instant" });
            const current = () => document.querySelector(".tag-bar a[aria-current]").dataset.section;
            for (let n = 0; n < 60 && current() !== section; n += 1) await frames();
            return current();
        }""", section) == section, 20, f"the chip of {section}")


# --- the cart


def test_a_tap_counts_at_once_and_once(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    held = []
    page.route("**/v1/cart/lines", lambda route: held.append(route))
    add = page.locator("[data-item=breakfast0] .add")
    add.click()
    assert badge(page) == 1 and add.get_attribute("data-count") == "1"
    wait_until(lambda: (page.evaluate(FRAMES), held)[1], 5, "the request")
    for _ in range(3):
        add.click()
    assert badge(page) == 4
    held[0].continue_()
    page.unroute("**/v1/cart/lines")
    wait_for_cart(page, 4)
    assert badge(page) == 4
    assert [line["quantity"] for line in cart(page)["lines"]] == [4]


def test_a_refused_tap_is_taken_back_and_says_why(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=breakfast0] .add").click()
    wait_for_cart(page, 1)
    # The page does not hear of it in time.
    page.route("**/v1/stream*", lambda route: route.abort("connectionreset"))
    page.evaluate("() => dispatchEvent(new Event('online'))")
    merchant("MENU.ITEM.SUSPEND", kitchen, "breakfast1")
    page.locator("[data-item=breakfast1] .add").click()
    page.locator(".toast[data-shown]").wait_for()
    assert "sold out" in page.locator(".toast").text_content().lower()
    wait_for_badge(page, 1)


def test_what_was_tapped_offline_is_sent_later_and_once(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    page.context.set_offline(True)
    page.locator("[data-item=lunch0] .add").click()
    page.locator("[data-item=lunch1] .add").click()
    assert badge(page) == 3
    page.locator("#banner", has_text="Offline").wait_for(timeout=6000)
    page.context.set_offline(False)
    wait_for_cart(page, 3)
    wait_for_badge(page, 3)
    page.locator("#banner").wait_for(state="hidden")


def test_a_change_whose_answer_is_lost_is_made_once(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    lost = []

    def lose(route):
        if lost:
            route.continue_()
        else:
            lost.append(route.fetch().status)
            route.abort("connectionreset")

    page.route("**/v1/cart/lines", lose)
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    page.locator("#cart-button").click()
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").wait_for()
    assert cart(page)["count"] == badge(page) == 1


def test_two_pages_of_one_visitor_show_one_cart(visit, site, kitchen):
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    other = site.open(page.context, f"{site.origin}/o/{kitchen}", [])
    wait_for_badge(other, 1)
    other.locator("[data-item=lunch1] .add").click()
    wait_for_badge(page, 2)
    assert page.locator("[data-item=lunch1] .add").get_attribute("data-count") == "1"


def test_an_order_is_placed_at_the_price_that_was_seen(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=lunch0] .add").click()
    page.locator("[data-item=sweet0] .add").click()
    wait_for_cart(page, 2)
    page.locator("#cart-button").click()
    panel = page.locator("#cart-sheet")
    panel.get_by_label("One Lunch 0 more").click()
    wait_for_cart(page, 3)
    assert "24.50" in page.get_by_test_id("cart_total").text_content()
    merchant("MENU.ITEM.PRICE", kitchen, "lunch0", 1100)
    panel.locator(".problem", has_text="11.00 now").wait_for()
    order = page.get_by_test_id("checkout_btn")
    assert violations(page) == []
    panel.get_by_label("One Lunch 0 less").click()
    wait_for_cart(page, 2)
    page.locator("[data-testid=checkout_btn]", has_text="15.50").wait_for()
    order.click()
    page.wait_for_url("**/order/*")
    assert page.get_by_test_id("order_status").text_content() == "Sent to the kitchen"
    number = page.url.rpartition("/")[2]
    assert merchant.json("ORDER.GET", number)["total"] == 1550
    assert violations(page) == []
    for command, text in (("ACCEPT", "Accepted"), ("PREPARE", "Being prepared"), ("READY", "Ready")):
        merchant(f"ORDER.{command}", number)
        page.locator("[data-testid=order_status]", has_text=text).wait_for()
    # The next cart is another one.
    page.locator("a", has_text="Order again").click()
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    wait_for_badge(page, 1)


def test_a_cart_of_another_outlet_is_emptied_only_if_that_is_wanted(visit, merchant, kitchen, name):
    other = f"{name}-other"
    put_kitchen(merchant, other)
    page = visit(f"/o/{kitchen}")
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)
    page.goto(page.url.replace(kitchen, other))
    question = page.locator("#question")
    for answer, outlet in (("Cancel", kitchen), ("Empty it and add", other)):
        page.locator("[data-item=lunch1] .add").click()
        question.get_by_role("button", name=answer).click()
        wait_until(lambda: (cart(page)["outlet"], badge(page)) == (outlet, 1), 5, f"a cart of {outlet}")


# --- an item in full


def test_an_item_opens_with_its_address_and_closes_with_back(visit, merchant, kitchen):
    item = item_document(
        "lunch0", 1234, name="Lunch 0", maxQuantity=3, attributes={"shoeSize": 42.5, "vegan": True},
        images=[{"url": "https://example.com/more.jpg", "alt": "Another side"}],
        links=[{"rel": "source", "url": "https://example.com/lunch", "title": "How we make it"}])
    merchant("MENU.ITEM.PUT", kitchen, "lunch", "lunch0", json.dumps(item))
    page = visit(f"/o/{kitchen}")
    opener = page.locator("[data-item=lunch0] .open")
    opener.click()
    sheet = page.locator("#item-sheet")
    sheet.get_by_text("How we make it").wait_for()
    assert page.url.endswith("?item=lunch0")
    assert sheet.get_by_alt_text("Another side").count() == 1
    assert "Shoe size" in sheet.text_content() and "42.5" in sheet.text_content()
    sheet.locator(".large img[src*=large]").wait_for()
    assert violations(page) == []
    more = sheet.get_by_label("One more")
    for _ in range(4):
        more.click(force=True)
    add = page.get_by_test_id("item_add_btn")
    assert "37.02" in add.text_content()
    merchant("MENU.ITEM.PRICE", kitchen, "lunch0", 1000)
    page.locator("[data-testid=item_add_btn]", has_text="30.00").wait_for()
    sheet.get_by_label("Note for the kitchen").fill("no peas")
    add.click()
    wait_for_cart(page, 3)
    assert cart(page)["lines"][0]["note"] == "no peas"
    assert page.url.endswith(kitchen)
    opener.click()
    page.go_back()
    sheet.wait_for(state="hidden")
    page.wait_for_function("() => document.activeElement.textContent === 'Lunch 0'")
    opener.click()
    merchant("MENU.ITEM.REMOVE", kitchen, "lunch0")
    sheet.get_by_text("no longer on the menu").wait_for()
    assert add.get_attribute("aria-disabled") == "true"
    page.keyboard.press("Escape")
    merchant("MENU.ITEM.PUT", kitchen, "lunch", "lunch0", json.dumps(item))
    opener.wait_for()
    page.wait_for_url(f"**/{kitchen}")
    page.goto(f"{page.url}?item=lunch0")
    sheet.locator("h2", has_text="Lunch 0").wait_for()
    page.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    assert page.url.endswith(kitchen)


# --- for everybody


@pytest.mark.parametrize("scheme, width", [("light", 390), ("dark", 1280)])
def test_nothing_stands_in_anybodys_way(visit, merchant, kitchen, scheme, width):
    merchant("MENU.ITEM.SUSPEND", kitchen, "breakfast1")
    page = visit(f"/o/{kitchen}", color_scheme=scheme, reduced_motion="reduce", viewport={"width": width, "height": 844})
    page.locator("[data-item=breakfast0] .add").click()
    wait_for_cart(page, 1)
    assert violations(page) == []
    scroll_to_visible(page, -300)
    assert violations(page) == []


def test_a_meal_can_be_ordered_by_keyboard_alone(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.closest('.item')?.dataset.item") == "breakfast2":
            break
    page.keyboard.press("Enter")
    page.locator("#item-sheet[open]").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_function("() => location.search === ''")
    page.wait_for_function("() => document.activeElement.closest('.item')?.dataset.item === 'breakfast2'")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait_for_cart(page, 1)
    page.locator("#cart-button").focus()
    page.keyboard.press("Enter")
    page.locator("[data-testid=checkout_btn]:not([aria-disabled])").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/order/*")


def test_a_page_opens_without_a_server_and_is_live_again_with_one(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    page.evaluate("() => navigator.serviceWorker.ready")
    page.reload()
    wait_until(lambda: page.evaluate("() => navigator.serviceWorker.controller !== null"), 5, "the service worker")
    page.reload()
    wait_for_home(page, merchant, kitchen)
    page.context.set_offline(True)
    page.reload()
    wait_for_home(page, merchant, kitchen)
    page.locator("#banner", has_text="Offline").wait_for(timeout=6000)
    merchant("MENU.ITEM.PRICE", kitchen, "lunch0", 4321)
    page.context.set_offline(False)
    wait_for_home(page, merchant, kitchen)
