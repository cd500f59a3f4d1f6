"""The merchant's pages in a browser."""

import hashlib
import io
import json
import re
from datetime import date, timedelta

from PIL import Image
from site_under_test import Site, put_kitchen, violations, wait_for_home
from tiffin import fresh_database, item_document, outlet_document, put_open_outlet, run_tiffin, section_document, wait_until
from test_kitchen import place

WIDE = {"width": 1280, "height": 900}


def open_page(visit, site, fragment="", **options):
    page = visit(f"/merchant{fragment}", origin=site.console, **{"viewport": WIDE, **options})
    page.locator("main h1").wait_for()
    return page


def go(page, fragment):
    page.evaluate("(hash) => { location.hash = hash; }", fragment)
    page.wait_for_function("(page) => document.querySelector(`main nav [aria-current][href^='${page}']`) !== null", arg=fragment.split("?")[0])


def agree(page, *texts, yes):
    """Says yes to a question that has these texts."""
    question = page.locator("dialog[aria-labelledby=question-title]")
    for text in texts:
        question.get_by_text(text, exact=True).wait_for()
    asked = question.element_handle()
    question.get_by_role("button", name=yes).click()
    # Another question may follow.
    asked.wait_for_element_state("hidden")


def item(merchant, outlet, name):
    """An item of a menu with the id of its section; None where there is none."""
    menu = merchant.json("MENU.GET", outlet) or {"sections": []}
    return next(({**each, "section": section["id"]} for section in menu["sections"] for each in section["items"]
                 if each["id"] == name), None)


def test_outlets_show_their_state_and_orders_and_take_orders_or_not(visit, site, merchant, name):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document("<b>Grill</b>", acceptWithin=600, prepMinutes=20)))
    place(merchant, name, name)
    # It is the first of the page.
    page = open_page(visit, site, f"#outlets?after={name[:-1] if len(name) > 2 else 'a'}", viewport={"width": 390, "height": 844})
    card = page.locator(f"[data-outlet={name}]")
    card.get_by_role("link", name="<b>Grill</b>").wait_for()
    assert card.locator("dd").all_text_contents() == ["1", "0", "LKR\xa010.00"]
    assert violations(page) == []
    state = card.get_by_test_id("state")
    card.get_by_role("button", name="Pause").press("Enter")
    assert violations(page) == []
    page.get_by_label("Why, for customers").fill("the oven is cold")
    page.get_by_label("Why, for customers").press("Enter")
    state.get_by_text(re.compile("Paused until .*: the oven is cold")).wait_for()
    assert merchant.json("OUTLET.GET", name)["pauseReason"] == "the oven is cold"
    for step, seen in {"End the pause": "Open", "Hide": "Open, hidden", "Close": "Closed, hidden", "Show": "Closed"}.items():
        card.get_by_role("button", name=step).press("Enter")
        state.get_by_text(seen, exact=True).wait_for()
        assert page.evaluate("() => document.activeElement.tagName") == "BUTTON"


def test_a_menu_is_made_with_the_keyboard_alone_and_each_change_is_shown_first(visit, site, merchant, name):
    merchant("OUTLET.PUT", name, json.dumps(outlet_document()))
    page = open_page(visit, site, f"#menu?outlet={name}")
    keys = page.keyboard

    def write(label, text):
        page.get_by_label(label, exact=True).focus()
        keys.press("Control+A")
        keys.type(text)

    def press(button):
        page.get_by_role("button", name=button, exact=True).last.focus()
        keys.press("Enter")

    def answer(title, *texts):
        question = page.locator("dialog[aria-labelledby=question-title]")
        question.get_by_role("heading", name=title, exact=True).wait_for()
        assert question.locator("p[id]").all_text_contents() == list(texts)
        assert violations(page) == []
        keys.press("Tab")
        keys.press("Enter")
        page.locator("dialog").first.wait_for(state="detached")

    press("Add a section")
    assert violations(page) == []
    write("Title", "Mains")
    keys.press("Enter")
    answer("Add Mains?", "It is new.", "Title: Mains", "Kind: menuItems")
    for dish, price in {"Curry <i>hot</i>": "950.50", "Rice": "300", "Soup": "410"}.items():
        press("Add an item")
        write("Name", dish)
        write("Price", price)
        keys.press("Enter")
        answer(f"Add {dish}?", "It is new.", f"Name: {dish}", "Kind: menuItem", f"Price: LKR\xa0{float(price):.2f}", "Section: mains")
    press("Add a group of options")
    assert violations(page) == []
    write("Title", "Extras")
    press("Add an option")
    page.locator(".options").get_by_label("Name").focus()
    keys.type("Egg")
    page.locator(".options").get_by_label("Price").focus()
    keys.type("90")
    keys.press("Enter")
    answer("Add Extras?", "It is new.", "Title: Extras", "Egg: It is new.", "Egg: Name: Egg", "Egg: Price: LKR\xa090.00")
    press("Curry <i>hot</i>")
    assert violations(page) == []
    write("Price", "wrong")
    keys.press("Enter")
    page.get_by_role("alert").get_by_text("Price: write it like 16.50.").wait_for()
    write("Price", "1000")
    write("Place", "3")
    page.get_by_label("Extras").focus()
    keys.press("Space")
    page.locator("summary").focus()
    keys.press("Enter")
    page.get_by_label("Attributes").focus()
    keys.type("allergens: nuts; milk")
    page.get_by_label("Combo of its options").focus()
    keys.press("Space")
    page.get_by_label("More pictures").focus()
    keys.type("https://example.com/a.jpg A pan of curry")
    page.get_by_label("Links").focus()
    keys.type("video https://example.com/v How we make it")
    page.get_by_label("Price").focus()
    keys.press("Enter")
    answer("Change Curry <i>hot</i>?", "Price: LKR\xa0950.50 → LKR\xa01,000.00",
           "More pictures: nothing → url https://example.com/a.jpg, alt A pan of curry",
           "Links: nothing → rel video, url https://example.com/v, title How we make it",
           "Groups of options: nothing → extras", "Combo: nothing → yes", "Attributes: nothing → allergens nuts, milk", "Place: 1 → 3")
    curry = "curry-i-hot-i"
    wait_until(lambda: [each["id"] for each in merchant.json("MENU.GET", name)["sections"][0]["items"]] == ["rice", "soup", curry],
               "the move")
    made = item(merchant, name, curry)
    assert (made["price"], made["options"], made["attributes"]) == (100000, ["extras"], {"allergens": ["nuts", "milk"]})
    assert (made["combo"], made["images"]) == (True, [{"url": "https://example.com/a.jpg", "alt": "A pan of curry"}])
    assert made["links"] == [{"rel": "video", "url": "https://example.com/v", "title": "How we make it"}]
    page.locator(f"[data-item={curry}]").get_by_text("LKR\xa01,000.00").wait_for()
    assert violations(page) == []
    press("Soup")
    press("Remove")
    answer("Remove Soup?", "It is removed.")
    page.locator("[data-item=soup]").wait_for(state="detached")
    assert item(merchant, name, "soup") is None


def test_whoever_changes_what_somebody_else_has_changed_sees_both(visit, site, merchant, name):
    put_kitchen(merchant, name)
    page = open_page(visit, site, f"#menu?outlet={name}")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Preview").click()
    preview = opened.value
    wait_for_home(preview, merchant, name)
    page.get_by_role("button", name="Lunch 0", exact=True).click()
    page.get_by_label("Price", exact=True).fill("12")
    # Another item does not matter, the same one does.
    merchant("MENU.ITEM.SUSPEND", name, "dinner0")
    merchant("MENU.ITEM.PUT", name, "lunch", "lunch0", json.dumps(item_document("lunch0", 1100, name="Noon 0")))
    page.get_by_role("button", name="Change…").click()
    agree(page, "Price: LKR\xa010.00 → LKR\xa012.00", yes="Change")
    agree(page, "Meanwhile: Name: Lunch 0 → Noon 0", "Meanwhile: Price: LKR\xa010.00 → LKR\xa011.00",
          "Yours: Price: LKR\xa011.00 → LKR\xa012.00", yes="Change it all the same")
    page.locator("[data-item=lunch0]").get_by_text("LKR\xa012.00").wait_for()
    made = item(merchant, name, "lunch0")
    assert (made["name"], made["price"]) == ("Noon 0", 1200)
    page.get_by_role("button", name="Lunch 1", exact=True).click()
    page.get_by_label("Name", exact=True).fill("Second lunch")
    merchant("MENU.ITEM.SUSPEND", name, "lunch2")
    page.get_by_role("button", name="Change…").click()
    agree(page, "Name: Lunch 1 → Second lunch", yes="Change")
    page.get_by_role("button", name="Second lunch").wait_for()
    # Nor is anything lost that the page has read while the form was open.
    page.get_by_role("button", name="Lunch 3", exact=True).click()
    page.get_by_label("Name", exact=True).fill("Third lunch")
    merchant("MENU.ITEM.PRICE", name, "lunch3", 5000)
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    page.locator("[data-item=lunch3]").get_by_text("LKR\xa050.00").wait_for()
    page.get_by_role("button", name="Change…").click()
    agree(page, "Name: Lunch 3 → Third lunch", yes="Change")
    agree(page, "Meanwhile: Price: LKR\xa010.30 → LKR\xa050.00", "Yours: Name: Lunch 3 → Third lunch", yes="Change it all the same")
    page.get_by_role("button", name="Third lunch").wait_for()
    assert item(merchant, name, "lunch3")["price"] == 5000
    # The preview has followed. It is the store's page, without a cart.
    wait_for_home(preview, merchant, name)
    preview.locator("[data-item=lunch3] .add").click()
    preview.locator(".toast", has_text="This is a preview").wait_for(state="attached")
    preview.get_by_text("Preview: customers see this place like that").wait_for()
    assert preview.locator("#cart-button").is_hidden() and violations(preview) == []
    assert preview.evaluate("() => navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0


def test_whoever_goes_elsewhere_the_moment_a_form_closes_gets_there(visit, site, merchant, name):
    put_kitchen(merchant, name)
    page = open_page(visit, site, f"#menu?outlet={name}")
    page.get_by_role("button", name="Lunch 0", exact=True).click()
    page.locator("dialog[open]").evaluate("(dialog, hash) => dialog.addEventListener('close', () => { location.hash = hash; })", f"#day?outlet={name}")
    page.keyboard.press("Escape")
    page.wait_for_function("() => location.hash.startsWith('#day') && !history.state?.depth && document.querySelector(`main nav [aria-current][href^='#day']`)")
    page.go_back()
    page.get_by_role("button", name="Lunch 0", exact=True).wait_for()
    assert page.evaluate("() => location.hash") == f"#menu?outlet={name}"


def test_a_menu_of_5000_items_is_shown_a_part_at_a_time(visit, site, merchant, name):
    put_open_outlet(merchant, name, [
        section_document(f"s{part}", [item_document(f"i{part}-{n}", 100 + n, name=f"Dish {part} {n}") for n in range(2500)])
        for part in range(2)])
    page = open_page(visit, site, f"#menu?outlet={name}")
    page.get_by_test_id("count").get_by_text("5000 items in 2 sections").wait_for()
    assert page.locator("[data-item]").count() == 100
    page.get_by_label("Search").fill("dish 1 2499")
    page.get_by_role("button", name="Dish 1 2499").click()
    page.get_by_label("Price", exact=True).fill("7")
    page.get_by_role("button", name="Change…").click()
    agree(page, yes="Change")
    page.locator("[data-item=i1-2499]").get_by_text("LKR\xa07.00").wait_for()


def test_prices_are_changed_together_and_a_file_says_first_what_it_changes(visit, site, merchant, name):
    put_kitchen(merchant, name)
    links = [{"rel": "source", "url": "https://example.com/pie", "title": "How, \"exactly\""}]
    merchant("MENU.ITEM.PUT", name, "shelf", "shelf0", json.dumps({**item_document("shelf0", 500), "links": links}))
    page = open_page(visit, site, f"#prices?outlet={name}")
    page.get_by_label("Search").fill("lunch")
    page.get_by_role("button", name="Select all of these").click()
    page.get_by_test_id("selected").get_by_text("8 selected, 8 of 42 prices found").wait_for()
    page.get_by_label("Select Lunch 7").uncheck()
    assert violations(page) == []
    page.get_by_label("Change by").fill("-2.5")
    page.get_by_label("Rounded to").select_option("5")
    page.get_by_role("button", name="Change…").click()
    before = merchant.json("MENU.GET", name)["version"]
    agree(page, "Lunch 0: LKR\xa010.00 → LKR\xa09.75", "Lunch 6: LKR\xa010.60 → LKR\xa010.35", yes="Change")
    page.get_by_text("7 prices were changed.").wait_for()
    prices = [item(merchant, name, f"lunch{n}")["price"] for n in range(8)]
    assert prices == [975, 985, 995, 1005, 1015, 1025, 1035, 1070]
    assert merchant.json("MENU.GET", name)["version"] == before + 7

    go(page, f"#import?outlet={name}")
    assert violations(page) == []
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the menu as CSV").click()
    text = saved.value.path().read_bytes().decode()
    chooser = page.locator("[type=file]")
    preview = page.get_by_test_id("preview")

    def give(text, name="menu.csv"):
        chooser.set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})

    give(text)
    preview.get_by_text("The file changes nothing.").wait_for()
    give("id,name,price,section\r\nlunch0,Lunch 0,12.345,Lunch\r\nlunch1,,3,Lunch\r\n,Tea,2.50,\r\n")
    preview.get_by_text("Nothing can be changed: 3 mistakes").wait_for()
    assert preview.locator("li").all_text_contents() == [
        "Line 2: price: write it like 16.50.", "Line 3: name: it needs one.", "Line 4: section: a new item needs one."]
    give("id,links,combo\r\nshelf0,[,\r\nshelf1,,false\r\n")
    preview.get_by_text("Line 2: links: write it as JSON.").wait_for()
    give('section;id;name;price;tags;attributes.allergens\n'
         'Lunch;lunch0;"Lunch; ""best""";12,50;test;\nDrinks;;Tea;2.50;hot, new;milk;\n'.replace(";milk;", ';"milk;"'))
    preview.get_by_text("What changes: 3").wait_for()
    shown = preview.locator("li > p").all_text_contents()
    assert shown == ["Line 2, Lunch; \"best\"", "Drinks", "Line 3, Tea"]
    assert violations(page) == []
    preview.get_by_role("button", name="Change the menu…").click()
    agree(page, yes="Change the menu")
    preview.get_by_text("The menu was changed.").wait_for()
    assert item(merchant, name, "lunch0")["name"] == 'Lunch; "best"'
    tea = item(merchant, name, "tea")
    assert (tea["section"], tea["price"], tea["tags"], tea["attributes"]) == ("drinks", 250, ["hot", "new"], {"allergens": ["milk"]})
    give("id,name,imageSmall\nlunch0,Lunch,pie.jpg\n")
    preview.get_by_role("button", name="Change the menu…").click()
    agree(page, yes="Change the menu")
    preview.get_by_text(re.compile("Line 2: Lunch: imageSmall")).wait_for()


def test_a_picture_is_scaled_stored_by_its_content_and_shown_in_the_store(visit, site, merchant, name, tmp_path):
    put_kitchen(merchant, name)
    page = open_page(visit, site, f"#menu?outlet={name}")
    page.get_by_role("button", name="Lunch 0", exact=True).click()
    buffer = io.BytesIO()
    Image.new("RGB", (2000, 1000), "#c84").save(buffer, "PNG")
    # Its name says nothing.
    page.get_by_label("Picture from a file").set_input_files({"name": "pie.txt", "mimeType": "image/png", "buffer": buffer.getvalue()})
    page.get_by_text("The picture is stored.").wait_for()
    assert violations(page) == []
    page.get_by_role("button", name="Change…").click()
    agree(page, yes="Change")
    page.locator("dialog").first.wait_for(state="detached")
    made = item(merchant, name, "lunch0")
    for field, width in ("imageSmall", 320), ("imageLarge", 1280):
        answer = page.request.get(site.origin + made[field])
        assert made[field] == "/pictures/" + hashlib.sha256(answer.body()).hexdigest()
        assert Image.open(io.BytesIO(answer.body())).size == (width, width // 2)
        headers = {key: answer.headers[key] for key in ("content-type", "x-content-type-options", "cache-control")}
        assert headers == {"content-type": "image/webp", "x-content-type-options": "nosniff",
                           "cache-control": "public, max-age=31536000, immutable"}
    assert page.request.get(f"{site.origin}/pictures/{'0' * 64}").status == 404
    store = visit(f"/o/{name}")
    store.wait_for_function("(path) => [...document.images].some((each) => each.src.endsWith(path) && each.naturalWidth === 320)",
                            arg=made["imageSmall"])
    statuses = page.evaluate("""async (path) => {
        const put = async (type, body) => (await fetch(path, { method: "PUT", headers: { "content-type": type }, body })).status;
        const jpeg = (length) => { const bytes = new Uint8Array(length); bytes.set([0xff, 0xd8, 0xff]); return bytes; };
        return [await put("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"), await put("image/png", "<svg/>"),
                await put("application/json", jpeg(9)), await put("image/png", jpeg(4 << 20)), await put("image/png", jpeg((4 << 20) + 1))];
    }""", f"/v1/outlets/{name}/pictures")
    assert statuses == [400, 400, 415, 200, 413]
    page.get_by_role("button", name="Lunch 1", exact=True).click()
    page.locator("summary").click()
    page.get_by_label("Address of the small picture").fill("http://example.com/pie.jpg")
    page.get_by_role("button", name="Change…").click()
    page.get_by_role("alert").get_by_text("Picture: a picture by http is not shown").wait_for()


def test_refunds_are_asked_for_and_the_takings_agree_with_the_command(visit, site, merchant, name, tmp_path):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(acceptWithin=600, prepMinutes=20)))
    order = place(merchant, name, name, ("lunch0", 2), ("dinner1", 1), name="Asha")
    other = place(merchant, name, f"{name}-2")
    merchant("ORDER.REJECT", other, "CODE", "BUSY")
    page = open_page(visit, site, f"#orders?outlet={name}")
    assert page.locator("[data-order]").evaluate_all("(rows) => rows.map((row) => row.dataset.order)") == [other, order]
    assert violations(page) == []
    page.get_by_label("Status").select_option(label="Open")
    page.locator(f"[data-order='{other}']").wait_for(state="detached")
    page.locator(f"[data-order='{order}'] a").click()
    page.get_by_text("Asha").wait_for()
    page.locator("table.history").get_by_text("order.placed").wait_for()
    # What the customer asks to be changed is answered here, too.
    merchant("ORDER.CHANGE", order, json.dumps({"lines": [{"line": "lunch0", "quantity": 1}]}), "BY", "customer")
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    asked = page.get_by_test_id("proposal")
    asked.get_by_text("LKR\xa030.10 → LKR\xa020.10").wait_for()
    assert violations(page) == []
    asked.get_by_role("button", name="Do not change it").press("Enter")
    asked.wait_for(state="hidden")
    assert violations(page) == []
    page.locator("main").get_by_role("button", name="Give back…").click()
    assert violations(page) == []
    form = page.locator("dialog").first
    form.get_by_role("combobox", name="What").select_option(label="Lunch 0: 2 left")
    form.get_by_role("button", name="Give back…").click()
    agree(page, "1 × Lunch 0 is given back, with its share of service and taxes.", yes="Give back")
    page.locator("table.sums").get_by_text("-LKR\xa010.00").wait_for()
    page.locator("main").get_by_role("button", name="Give back…").click()
    form.get_by_text("LKR\xa020.10 of LKR\xa030.10 are left.").wait_for()
    form.get_by_role("combobox", name="What").select_option(label="An amount")
    form.get_by_label("Amount", exact=True).fill("30")
    form.get_by_role("button", name="Give back…").click()
    form.get_by_text("Amount: at most LKR\xa020.10 are left.").wait_for()
    form.get_by_label("Amount", exact=True).fill("5.10")
    form.get_by_role("button", name="Give back…").click()
    agree(page, "LKR\xa05.10 are given back. Then LKR\xa015.00 are left.", yes="Give back")
    page.locator("table.sums").get_by_text("-LKR\xa015.10").wait_for()
    assert merchant.json("ORDER.GET", order)["refunded"] == 1510

    go(page, f"#day?outlet={name}")
    row = page.locator("table.takings").first.locator("tr").last
    row.get_by_text("All").wait_for()
    assert [text.replace("LKR\xa0", "") for text in row.locator("td").all_text_contents()] == [
        "2", "40.10", "10.00", "15.10", "15.00", "0.00", "0.00"]
    # The plot of the week has the same orders, and its table says so.
    page.get_by_test_id("peak").get_by_text(re.compile("The most in an hour were [12], on ")).wait_for()
    page.locator("summary").click()
    counts = page.locator("details td").all_text_contents()
    assert sum(map(int, counts)) == 2 and len(counts) == 7 * 24
    dots = page.locator(".plot circle title").all_text_contents()
    assert sum(int(text.rpartition(" ")[2]) for text in dots) == 2
    assert violations(page) == []
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    days = [page.get_by_label(label).input_value() for label in ("From", "Until")]
    printed = run_tiffin("takings", name, "--from", days[0], "--until", days[1], "--csv", "--server", f"127.0.0.1:{site.server.port}")
    assert saved.value.path().read_text() == printed.stdout


def test_promotions_are_checked_as_they_are_typed_and_ended(visit, site, merchant, name):
    put_kitchen(merchant, name)
    page = open_page(visit, site, f"#promotions?outlet={name}")
    page.get_by_text("Nothing is taken off.").wait_for()
    add = page.get_by_role("button", name="New promotion…")
    add.click()
    form = page.locator("dialog")
    assert violations(page) == []
    for label, text, problem in (
        ("How much", "200", "Write a percentage like 12.5, at most 100."), ("Code", "a b", "A code has only"),
        ("How often in all", "0", "Write a whole number from 1 on."), ("Least that the items cost", "1.234", "write it like 16.50"),
    ):
        form.get_by_label(label, exact=True).fill(text)
        form.get_by_text(problem).wait_for()
    form.get_by_role("button", name="Add it").click()
    form.get_by_text("It needs a name.").wait_for()
    for label, text in (("Name", "Two <i>plus</i> one"), ("How much", "100"), ("Code", "three"), ("So many are bought", "2"),
                        ("Least that the items cost", "20"), ("Begins", "2026-03-01T09:30"), ("How often in all", ""),
                        ("How often for each customer", "2")):
        form.get_by_label(label, exact=True).fill(text)
    form.get_by_label("Sections").select_option(["lunch", "dinner"])
    form.get_by_test_id("meaning").get_by_text("Of Lunch, Dinner: 2 at their price, then 1 free, with the code three").wait_for()
    assert violations(page) == []
    bodies = []

    def refuse(route):
        bodies.append(route.request.post_data_json)
        route.fulfill(status=400, content_type="application/problem+json",
                      body=json.dumps({"code": "INVALID", "detail": "perCustomer: is too much"}))

    page.route("**/promotions/*", refuse)
    form.get_by_role("button", name="Add it").click()
    form.get_by_text("Is too much", exact=True).wait_for()
    assert page.evaluate("() => document.activeElement.getAttribute('aria-invalid')") == "true"
    page.unroute("**/promotions/*")
    expected = {
        "title": "Two <i>plus</i> one", "on": "items", "give": {"percent": 100_000}, "of": {"sections": ["lunch", "dinner"]},
        "buy": 2, "minimum": 2000, "code": "three", "from": "2026-03-01T04:00:00Z"}
    assert bodies == [{**expected, "perCustomer": 2}]
    form.get_by_label("How often for each customer").fill("")
    form.get_by_role("button", name="Add it").click()
    row = page.locator("[data-promotion]")
    row.get_by_text("Two <i>plus</i> one").wait_for()
    assert [{**each, "id": None} for each in merchant.json("PROMO.GET", name)["promotions"]] == [{"id": None, **expected, "code": "THREE"}]
    assert violations(page) == []
    # What only the server knows stands at its field, too.
    add.click()
    for label, text in (("Name", "Again"), ("How much", "5"), ("Code", "Three")):
        form.get_by_label(label, exact=True).fill(text)
    form.get_by_role("button", name="Add it").click()
    form.get_by_text("'THREE' is the code of promotion").wait_for()
    form.get_by_role("button", name="Cancel").click()
    row.get_by_role("button", name="Change").click()
    form.get_by_label("Name", exact=True).fill("Three for two")
    form.get_by_role("button", name="Change", exact=True).click()
    row.get_by_text("Three for two").wait_for()
    assert merchant.json("PROMO.GET", name)["promotions"][0]["from"] == expected["from"]
    row.get_by_role("button", name="End").click()
    agree(page, "Orders that have it keep it. Carts lose it, also those with its code.", yes="End it")
    page.get_by_text("Nothing is taken off.").wait_for()
    assert merchant.json("PROMO.GET", name)["promotions"] == []


def test_orders_are_found_by_day_number_item_and_name(visit, site, merchant, name):
    put_kitchen(merchant, name)
    merchant("OUTLET.PUT", name, json.dumps(outlet_document(acceptWithin=600, prepMinutes=20)))
    first = place(merchant, name, name, ("lunch0", 1), name="Asha <b>")
    second = place(merchant, name, f"{name}-2", ("dinner1", 1))
    page = open_page(visit, site, f"#orders?outlet={name}")
    # The outlet's clocks are ahead of these.
    placed = date.fromisoformat(merchant.json("ORDER.GET", second)["placedAt"][:10])
    shown = lambda: page.locator("[data-order]").evaluate_all("(rows) => rows.map((row) => row.dataset.order)")
    for text, found in (("asha <B>", [first]), ("dinner", [second]), (f"#{second[-8:-4]}", [second]), ("n", [second, first])):
        page.get_by_label("Number, item or name").fill(text)
        page.get_by_label("Number, item or name").press("Enter")
        page.get_by_role("status").get_by_text(f"{len(found)} of 2 orders have “{text}” in their number").wait_for()
        assert shown() == found
    assert violations(page) == []
    page.get_by_label("Number, item or name").fill("")
    page.get_by_label("From").fill("2026-01-01")
    page.get_by_label("Until").fill("2026-01-02")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("There are no such orders here.").wait_for()
    address = page.url
    page.get_by_label("From").fill((placed - timedelta(days=1)).isoformat())
    page.get_by_label("Until").fill((placed + timedelta(days=1)).isoformat())
    page.get_by_role("button", name="Show").click()
    page.locator(f"[data-order='{first}']").wait_for()
    assert shown() == [second, first]
    # Somebody else sees the same.
    other = open_page(visit, site, address[address.index("#"):])
    other.get_by_text("There are no such orders here.").wait_for()
    page.get_by_label("From").fill("2020-01-01")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("alert").get_by_text("must lie within 100 days").wait_for()
    page.get_by_role("combobox", name="Outlet").select_option(label="All")
    page.wait_for_url("**#orders")


def test_a_confined_merchant_sees_its_outlets_and_no_others(browser, visit):
    with fresh_database() as url:
        assert run_tiffin("migrate", "--database", url).returncode == 0
        for user, *role in (("root", "--role", "admin"), ("cook", "--role", "merchant", "--only", "grill")):
            added = run_tiffin("user", "add", user, *role, "--database", url, text="correct horse\n")
            assert added.returncode == 0
        with Site(url) as site, site.server.client() as client:
            client("AUTH", "root", "correct horse")
            for outlet in ("bakery", "grill"):
                put_kitchen(client, outlet)
                client("OUTLET.PUT", outlet, json.dumps(outlet_document(outlet.title(), acceptWithin=600)))
            theirs, own = place(client, "bakery", "b-1"), place(client, "grill", "g-1")
            page = visit("/merchant", of=site, origin=site.console, viewport=WIDE)
            page.wait_for_url("**/login?to=*")
            page.get_by_label("Name").fill("cook")
            page.get_by_label("Password or token").fill("correct horse")
            page.get_by_role("button", name="Log in").click()
            page.locator("[data-outlet=grill]").wait_for()
            assert page.locator("[data-outlet]").count() == 1
            page.get_by_role("link", name="Orders", exact=True).first.click()
            page.locator("[data-order]").first.wait_for()
            assert page.locator("[data-order]").evaluate_all("(rows) => rows.map((row) => row.dataset.order)") == [own]
            page.locator("[data-order] a").click()
            page.get_by_role("button", name="Give back…").wait_for()
            # The log is not for merchants, but an order says of itself what became of it.
            page.locator("table.history").get_by_text("Sent to the kitchen").first.wait_for()
            for fragment in ("menu?outlet=bakery", "orders?outlet=bakery", "day?outlet=bakery", "outlets?after=bakery",
                             f"order?order={theirs}"):
                page.evaluate("(hash) => { location.hash = hash; }", fragment)
                page.get_by_role("heading", name="This page cannot be shown").wait_for()
                assert "Bakery" not in page.locator("main").text_content()
                page.evaluate("() => { location.hash = '#outlets'; }")
                page.locator("[data-outlet=grill]").wait_for()
            page.goto(f"{site.console}/preview/grill")
            page.get_by_role("heading", name="Grill", exact=True).wait_for()
            page.goto(f"{site.console}/preview/bakery")
            page.get_by_role("heading", name="This page cannot be shown now").wait_for()
            assert "Bakery" not in page.locator("main").text_content()
            page.context.clear_cookies()
            page.goto(f"{site.console}/preview/grill")
            page.wait_for_url("**/login?to=*")
            page.close()
