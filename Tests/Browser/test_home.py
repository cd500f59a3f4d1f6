"""The home of an outlet in a browser."""

import json
import random
import re

from site_under_test import (
    PATIENCE_SECONDS, badge, put_kitchen, use_scheme, violations, wait_for_badge, wait_for_cart, wait_for_home,
)
from tiffin import item_document, outlet_document, wait_until

SEED = 20_260_302


# --- what is shown


def test_the_home_has_every_section_and_item_with_its_accessibility_id(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    wait_for_home(page, merchant, kitchen)
    assert page.locator("main").get_attribute("data-testid") == "outlet_scroll"
    assert page.get_by_test_id("dessert_add_btn").count() == 5
    chips = [link.get_attribute("data-testid") for link in page.locator(".tag-bar a").all()]
    assert chips == [chip["id"] for chip in merchant.json("OUTLET.TAGS", kitchen)["chips"]]


def test_every_size_is_known_before_anything_is_drawn(visit, kitchen):
    page = visit(f"/o/{kitchen}", viewport={"width": 1280, "height": 700})
    # The width, and the size of the text.
    for width, text in ((1280, 16), (320, 16), (390, 16), (390, 32)):
        page.set_viewport_size({"width": width, "height": 700})
        page.evaluate("(size) => { document.documentElement.style.fontSize = `${size}px`; }", text)

        def differences():
            return page.evaluate("""() => [...document.querySelectorAll(".section")].map((section) => {
                section.style.contentVisibility = "visible";
                section.style.blockSize = "auto";
                const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
                const said = parseFloat(section.style.getPropertyValue("--size")) * rem;
                const difference = Math.round(said - section.getBoundingClientRect().height);
                section.style.contentVisibility = section.style.blockSize = "";
                return [section.dataset.section, difference];
            })""")

        def fits():
            # Behind the last item of lists and grids there is a point of an edge; cards have it below their scroll bar.
            return all(abs(difference) <= text for _, difference in differences())

        if width == 1280:
            assert fits(), differences()
        # The page hears of another width in its next frame.
        wait_until(fits, f"every size at {width} points")
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


def test_where_no_orders_are_taken_nothing_can_be_added(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    assert page.locator(".status").text_content() == "Open"
    add = page.locator("[data-item=breakfast0] .add")
    for count, (command, options, text) in enumerate((
        ("OUTLET.CLOSE", [], "Closed"),
        ("OUTLET.PAUSE", ["UNTIL", "2999-01-01T00:00:00Z", "REASON", "a broken oven"], "a broken oven"),
    )):
        merchant(command, kitchen, *options)
        page.locator(".status", has_text=text).wait_for()
        assert add.get_attribute("aria-disabled") == "true"
        add.click(force=True)
        assert badge(page) == count
        merchant("OUTLET.OPEN", kitchen)
        page.locator(".status", has_text="Open").wait_for()
        add.click()
        wait_for_badge(page, count + 1)


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
    assert violations(unknown) == []


def test_a_page_asks_at_once_for_all_modules_that_it_needs(visit, kitchen):
    for path in (f"/o/{kitchen}", "/discover", "/order/none"):
        page = visit(path)
        named, loaded = page.evaluate("""() => [
            [...document.querySelectorAll("link[rel=modulepreload]")].map(({ href }) => href).sort(),
            performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.endsWith(".js")).sort(),
        ]""")
        assert named == [name for name in loaded if not name.endswith("/sw.js")]


def test_a_page_without_its_cookie_gets_another_and_is_live_again(visit, merchant, kitchen):
    page = visit(f"/o/{kitchen}")
    page.context.clear_cookies()
    page.evaluate("() => dispatchEvent(new Event('online'))")
    merchant("MENU.ITEM.PRICE", kitchen, "lunch0", 4321)
    wait_for_home(page, merchant, kitchen)
    page.locator("[data-item=lunch0] .add").click()
    wait_for_cart(page, 1)


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


def test_a_closed_place_says_when_it_opens_and_an_item_begins_with_its_allergens(visit, merchant, name):
    days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    # So late that it is never in the middle of them.
    hours = [{"day": day, "opens": "23:58", "closes": "23:59"} for day in days]
    put_kitchen(merchant, name, hours=hours)
    merchant("MENU.ITEM.PUT", name, "lunch", "lunch0", json.dumps(
        item_document("lunch0", 5, attributes={"allergens": ["nuts", "milk"], "serves": 2})))
    merchant("OUTLET.CLOSE", name)
    page = visit(f"/o/{name}")
    page.get_by_role("status").filter(has_text=re.compile("It opens (tomorrow )?at 23:58|takes no orders now")).wait_for()
    page.locator("summary", has_text="Hours").click()
    page.get_by_text("23:58–23:59").first.wait_for()
    page.locator("[data-item=lunch0] .open").click()
    sheet = page.locator("#item-sheet")
    sheet.get_by_text("nuts, milk").wait_for()
    texts = sheet.text_content()
    assert texts.index("nuts, milk") < texts.index("The lunch0.") < texts.index("Serves")
    assert violations(page) == []


# --- the tag bar


def scroll_to_visible(page, points):
    """Scrolls until that many points of the outlet's header are visible."""
    page.evaluate("""(points) => {
        const top = document.querySelector(".top").getBoundingClientRect().bottom;
        const bottom = document.querySelector(".hero").getBoundingClientRect().bottom;
        scrollBy({ top: bottom - top - points, behavior: "instant" });
    }""", points)


def test_the_bar_shows_below_36_points_of_the_header_and_hides_above_72(visit, kitchen):
    page = visit(f"/o/{kitchen}")
    dice = random.Random(SEED)
    steps = [80, 60, 37, 36, 35, 50, 70, 72, 73, 50, 20, 60, 90, -400, 71, 40, 100]
    steps += [dice.choice([dice.randrange(-600, 130), dice.randrange(30, 80)]) for _ in range(30)]
    wrong = page.evaluate("""async ({ steps, patience }) => {
        const edge = (name) => document.querySelector(name).getBoundingClientRect().bottom;
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        let shown = false;
        for (const points of steps) {
            scrollBy({ top: edge(".hero") - edge(".top") - points, behavior: "instant" });
            const visible = edge(".hero") - edge(".top");
            if (Math.abs(visible - points) > 1) return `${visible} points are visible, and not ${points}`;
            shown = visible < 36 ? true : visible > 72 ? false : shown;
            await frame();
            await frame();
            // A busy browser says later what it has seen.
            const isRight = () => ("shown" in document.querySelector(".tag-bar").dataset) === shown;
            for (const began = performance.now(); !isRight(); await frame()) {
                if (performance.now() - began > patience * 1000) return `with ${points} points, it is not ${shown}`;
            }
        }
        return null;
    }""", {"steps": steps, "patience": PATIENCE_SECONDS})
    assert wrong is None, wrong


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
        }""", section)) <= 1, f"{section} to be at the top")
        assert page.evaluate("() => document.activeElement.textContent") == section.title()
        assert current.get_attribute("data-section") == section
    # While somebody scrolls, the chip is that of the section below the bar.
    for section in ("lunch", "dinner", "breakfast"):
        page.evaluate("""(section) => {
            document.querySelector(`#s-${section}`).scrollIntoView({ behavior: "instant" });
            scrollBy({ top: 30, behavior: "instant" });
        }""", section)
        page.locator(f".tag-bar a[aria-current][data-section={section}]").wait_for()


# --- for everybody


def test_nothing_stands_in_anybodys_way(visit, merchant, kitchen):
    merchant("MENU.ITEM.SUSPEND", kitchen, "breakfast1")
    page = visit(f"/o/{kitchen}", reduced_motion="reduce")
    page.locator("[data-item=breakfast0] .add").click()
    wait_for_cart(page, 1)
    for scheme, width in (("light", 390), ("dark", 1280)):
        use_scheme(page, scheme)
        page.set_viewport_size({"width": width, "height": 844})
        scroll_to_visible(page, 120)
        page.locator(".tag-bar:not([data-shown])").wait_for(state="attached")
        assert violations(page) == []
        scroll_to_visible(page, -300)
        page.locator(".tag-bar[data-shown]").wait_for()
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


def test_a_page_opens_without_a_server_after_one_visit(visit, merchant, kitchen):
    for last in [False] * 9 + [True]:
        page = visit(f"/o/{kitchen}")
        page.evaluate("() => navigator.serviceWorker.ready")
        page.context.set_offline(True)
        page.reload()
        page.locator("main [data-item=lunch0]").wait_for()
        if not last:
            page.context.close()
    page.locator("#banner", has_text="Offline").wait_for()
    # With one it is live again.
    wait_for_home(page, merchant, kitchen)
    merchant("MENU.ITEM.PRICE", kitchen, "lunch0", 4321)
    page.context.set_offline(False)
    wait_for_home(page, merchant, kitchen)
