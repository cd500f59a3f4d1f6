"""The console in a browser, and its check of receipts against the one in Python."""

import contextlib
import copy
import importlib.util
import io
import json
import random

import pytest
from redis.crc import key_slot
from site_under_test import Site, put_kitchen, violations
from tiffin import CHECKOUT, fresh_database, read_log, run_tiffin, sql, wait_until

SEED = 20_260_304


def document(page):
    """The document that is shown; None before there is one."""
    text = page.get_by_test_id("document").text_content()
    return json.loads(text) if text.startswith("{") else None


@pytest.fixture
def open_console(visit, site):
    def open_page(page="", **options):
        return visit(f"/{page}", origin=site.console, viewport={"width": 1280, "height": 800}, **options)

    return open_page


# --- receipts


def python_verdict(receipt):
    spec = importlib.util.spec_from_file_location("check_receipt", CHECKOUT / "docs" / "check_receipt.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            module.check_receipt(receipt, None, None)
        return True
    except (SystemExit, ValueError):
        return False


def changed(receipt, dice):
    """The receipt with one thing in it changed."""
    receipt = copy.deepcopy(receipt)
    part = receipt[dice.choice(["event", "event", "batch", "tree" if "tree" in receipt else "head"])]
    key = dice.choice([key for key, value in part.items() if value not in ([], "")])
    value = part[key]
    if isinstance(value, int):
        part[key] = value + dice.choice([-1, 1])
    elif isinstance(value, list):
        place = dice.randrange(len(value))
        part[key] = value[:place] + value[place + 1:] if dice.randrange(2) else [*value[:place], "0" * 64, *value[place:]]
    else:
        place = dice.randrange(len(value))
        part[key] = value[:place] + ("0" if value[place] != "0" else "1") + value[place + 1:]
    return receipt


def test_receipts_are_judged_as_the_check_in_python_judges_them(modules, merchant, kitchen):
    dice = random.Random(SEED)
    receipts = [json.loads(merchant("LOG.PROVE", stream, version, "FORM", form)) for stream, version, form in (
        (f"outlet-{kitchen}", 1, "links"), (f"menu-{kitchen}", 1, "tree"), (f"menu-{kitchen}", 17, "links"),
        (f"outlet-{kitchen}", 2, "tree"))]
    receipts += [changed(dice.choice(receipts), dice) for _ in range(150)]
    verdicts = modules.evaluate("""async (receipts) => {
        const { checkReceipt, NotProven } = await import("/console/receipt.js");
        return Promise.all(receipts.map((receipt) => checkReceipt(receipt).then(() => true, (error) => {
            if (!(error instanceof NotProven)) throw error;
            return false;
        })));
    }""", receipts)
    assert verdicts == [python_verdict(receipt) for receipt in receipts]
    assert verdicts[:4] == [True] * 4 and verdicts.count(False) > 100


# --- pages


def test_the_log_is_live_and_finds_streams_by_a_part_of_their_names(open_console, merchant, kitchen):
    page = open_console()
    rows = page.get_by_test_id("events").locator("tr")
    newest = read_log(merchant)[-1]
    rows.first.wait_for()
    wait_until(lambda: rows.first.get_attribute("data-position") == str(newest["position"]), "the newest event")
    merchant("MENU.ITEM.PRICE", kitchen, "lunch0", 4321)
    page.locator("tr", has_text="4321").first.wait_for()
    page.get_by_label("Search").fill(f"UTLET-{kitchen}"[:40])
    wait_until(lambda: rows.count() == 2, "the events of the outlet")
    assert "text=" in page.url
    rows.first.locator("summary").click()
    rows.first.get_by_text("Prove it").click()
    page.locator("[data-testid=verdict].come", has_text="Proven").wait_for()
    assert violations(page) == []
    receipt = page.locator("textarea")
    receipt.fill(receipt.input_value().replace("outlet.opened", "outlet.closed"))
    page.get_by_role("button", name="Check it").last.click()
    page.locator("[data-testid=verdict].gone", has_text="Not proven").wait_for()
    page.go_back()
    wait_until(lambda: rows.count() == 2, "the search as it was")


def test_a_stream_shows_what_each_event_did(open_console, merchant, kitchen):
    merchant("MENU.ITEM.PRICE", kitchen, "lunch0", 4321)
    version = merchant.json("MENU.GET", kitchen)["version"]
    page = open_console(f"#stream?name=menu-{kitchen}&from={version}")
    page.locator("summary").click()
    row = page.locator("tr tr", has_text="/sections/lunch/items/lunch0/model/price")
    row.wait_for()
    assert "1000" in row.text_content() and "4321" in row.text_content()
    assert violations(page) == []


def test_a_slider_leads_through_the_past(open_console, merchant, kitchen):
    merchant("MENU.ITEM.PRICE", kitchen, "lunch0", 4321)
    position = read_log(merchant)[-1]["position"]
    page = open_console(f"#travel?stream=outlet-{kitchen}&at={position}")
    changes, slider = page.get_by_test_id("changes"), page.get_by_test_id("position")
    changes.locator("tr", has_text="4321").wait_for()
    slider.focus()
    for key, step in (("ArrowLeft", -1), ("ArrowLeft", -1), ("ArrowRight", 1)):
        slider.press(key)
        position += step
        expected = merchant.json("OUTLET.HOME", kitchen, "AT", position)
        page.get_by_test_id("past").filter(has_text=str(position)).wait_for()
        wait_until(lambda: document(page) == expected, f"the home of {position}")
    slider.press("PageDown")
    page.locator("[data-testid=document]", has_text="nothing yet").wait_for()
    assert f"at={max(position - 100, 0)}" in page.url
    assert violations(page) == []


def test_the_past_of_a_stream_is_that_of_its_partition(browser, visit):
    def partition(name):
        return key_slot(name.encode()) * 3 // 16_384

    # One outlet in each partition, and in each a log of another length.
    names = [next(f"p{n}" for n in range(100) if partition(f"p{n}") == wanted) for wanted in range(3)]
    with fresh_database() as url:
        assert run_tiffin("migrate", "--database", url, "--partitions", 3).returncode == 0
        with Site(url) as site, site.server.client() as merchant:
            for number, name in enumerate(names):
                put_kitchen(merchant, name)
                for price in range(2 * number):
                    merchant("MENU.ITEM.PRICE", name, "lunch0", 4321 + price)
            heads = {head["partition"]: head["position"] for head in merchant.json("LOG.HEAD")}
            assert len(set(heads.values())) == 3
            page = visit(f"/#travel?stream=outlet-{names[2]}&at={heads[2] - 1}", of=site, origin=site.console)
            past = page.get_by_test_id("past")
            for name, position, typed in ((names[2], heads[2] - 1, False), (names[1], heads[1], True)):
                if typed:
                    page.get_by_label("Stream").first.fill(f"outlet-{name}")
                    page.get_by_role("button", name="Show").click()
                expected = merchant.json("OUTLET.HOME", name, "AT", position)
                past.filter(has_text=f"in partition {partition(name)}").filter(has_text=str(position)).wait_for()
                wait_until(lambda: document(page) == expected, f"the home of {name}")
            page.get_by_test_id("position").press("ArrowLeft")
            expected = merchant.json("OUTLET.HOME", names[1], "AT", heads[1] - 1)
            wait_until(lambda: document(page) == expected, "the home before")
            page.close()


def test_the_health_page_says_how_far_projections_are(open_console, merchant):
    page = open_console("#health", color_scheme="dark", clock=True)
    page.get_by_test_id("projections").locator("tr").first.wait_for()
    merchant("PING")
    page.clock.fast_forward(1000)
    page.get_by_test_id("commands").locator("tr", has_text="ping").wait_for()
    assert page.get_by_test_id("servers").locator("tr").count() == 1
    head = json.loads(merchant("LOG.HEAD"))[0]["position"]
    wait_until(lambda: page.get_by_test_id("projections").locator("td").nth(2).text_content() == str(head), "the head")
    assert violations(page) == []


def test_every_list_has_an_address_that_shows_the_same_to_others(browser, visit):
    options = ["--slowlog-log-slower-than", "0", "--latency-monitor-threshold", "1"]
    with fresh_database() as url:
        assert run_tiffin("migrate", "--database", url, "--partitions", 3).returncode == 0
        with Site(url, *options) as site, site.server.client() as client, site.server.client() as other:
            for name in ("bakery", "pier", "grill"):
                put_kitchen(client, name)
            client("MENU.ITEM.PRICE", "grill", "lunch0", 4321)
            assert run_tiffin("relay", "--show-secret", "--database", url).returncode == 0
            sql("update tiffin.relay_cursors set position = 1, failure = 'event 0-2 is not taken: <b>', failed_at = now() "
                "where relay = 'default' and partition = 0", url)
            other("CLIENT", "SETNAME", "till")
            page = visit("/#streams?text=menu-", of=site, origin=site.console, viewport={"width": 1280, "height": 800})
            rows = page.get_by_test_id("streams").locator("tr")
            rows.nth(2).wait_for()
            cells = [row.locator("td").all_text_contents() for row in rows.all()]
            # The newest comes first, whichever partition it is in.
            assert [name for name, *_ in cells] == ["menu-grill", "menu-pier", "menu-bakery"]
            assert [int(count) for _, count, _ in cells] == [
                client.json("MENU.GET", name)["version"] for name in ("grill", "pier", "bakery")]
            for name, search, seen in (
                ("projections", "cart_counts", "cart_counts"), ("slowlog", "menu.item.price", "4321"), ("clients", "till", "till"),
                ("relays", "is not taken", "<b>"),
            ):
                page.goto(f"{site.console}/#{name}")
                body = page.get_by_test_id(name)
                body.locator("tr").first.wait_for()
                page.get_by_label("Search").fill(search)
                body.locator("tr", has_text=seen).first.wait_for()
                found = body.locator("tr").count()
                colleague = visit(page.url.removeprefix(site.console), of=site, origin=site.console)
                wait_until(lambda: colleague.get_by_test_id(name).locator("tr").count() == found, f"the same {name}")
                colleague.close()
            page.goto(f"{site.console}/#clients?text=till")
            page.get_by_test_id("clients").get_by_role("button", name="End").click()
            page.get_by_role("dialog").get_by_role("button", name="End it").click()
            page.get_by_test_id("clients").locator("tr").first.wait_for(state="detached")
            assert other.is_closed()
            page.close()


# --- what admins do


def test_a_projection_is_rebuilt_behind_a_question(open_console, merchant, kitchen):
    page = open_console("#health")
    row = page.get_by_test_id("stored").locator("tr", has_text="cart_counts")
    page.wait_for_function("() => [...document.querySelectorAll('[data-testid=projections] td:nth-child(5)')]"
                           ".every((cell) => cell.textContent === '0')")
    button = row.get_by_role("button", name="Rebuild cart_counts")
    button.click()
    question = page.get_by_role("dialog", name="Rebuild cart_counts?")
    question.get_by_role("button", name="Cancel").click()
    question.wait_for(state="detached")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Rebuild cart_counts"
    button.press("Enter")
    assert violations(page) == []
    question.get_by_role("button", name="Rebuild").press("Enter")
    page.get_by_test_id("rebuild").filter(has_text="cart_counts was rebuilt: no row differs from before.").wait_for()
    row.locator("td").nth(2).filter(has_text="2").wait_for()


def test_a_customer_is_forgotten_once_the_name_is_typed(open_console, merchant, kitchen):
    cart, customer = f"{kitchen}-cart", f"{kitchen}-asha"
    merchant("CART.ADD", cart, kitchen, "lunch0", 1, "CUSTOMER", customer, "NOTE", "no peas")
    page = open_console("#health", color_scheme="dark")
    page.get_by_label("Customer").fill(customer)
    page.get_by_role("button", name="Forget").press("Enter")
    question = page.get_by_role("dialog", name=f"Forget {customer}?")
    word = question.get_by_label("Type")
    word.fill("somebody else")
    word.press("Enter")
    question.get_by_role("alert").filter(has_text=f"This is not {customer}.").wait_for()
    assert violations(page) == []
    assert merchant.json("CART.GET", cart)["lines"][0]["note"] == "no peas"
    word.fill(customer)
    word.press("Enter")
    page.get_by_test_id("forgotten").filter(has_text=f"{customer} is forgotten: 1 key destroyed.").wait_for()
    assert merchant.json("CART.GET", cart)["lines"][0]["note"] == "[erased]"


def test_whoever_has_to_log_in_does_so_and_comes_back(browser, visit):
    with fresh_database() as url:
        assert run_tiffin("migrate", "--database", url).returncode == 0
        for name, role in (("root", "admin"), ("judge", "auditor")):
            added = run_tiffin("user", "add", name, "--role", role, "--database", url, text="correct horse\n")
            assert added.returncode == 0
        with Site(url) as site:
            page = visit("/#health", of=site, origin=site.console, color_scheme="dark")
            page.wait_for_url("**/login?to=*")
            name = page.get_by_label("Name")
            name.fill("judge")
            page.get_by_label("Password or token").fill("wrong horse")
            assert violations(page) == []
            page.keyboard.press("Enter")
            page.get_by_role("alert").filter(has_text="do not belong together").wait_for()
            page.get_by_label("Password or token").fill("correct horse")
            page.get_by_role("button", name="Log in").click()
            page.wait_for_url("**/#health")
            page.get_by_test_id("stored").locator("tr").first.wait_for()
            # An auditor looks and does nothing.
            assert page.get_by_role("button", name="Rebuild").count() == 0
            assert page.get_by_role("button", name="Forget").count() == 0
            assert page.evaluate("document.cookie + JSON.stringify(localStorage)") == "{}"
            page.goto(f"{site.console}/#users")
            page.get_by_text("Only admins see users.").wait_for()
            page.get_by_role("button", name="Log out").click()
            page.wait_for_url("**/login")
            manage_users(page, visit, site)
            page.close()


def manage_users(page, visit, site):
    """What an admin does to users, and what comes of it."""
    def log_in(page, name, password):
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password or token").fill(password)
        page.get_by_role("button", name="Log in").click()

    def agree(title, yes):
        page.get_by_role("dialog", name=title).get_by_role("button", name=yes).click()

    page.goto(f"{site.console}/login?to=/%23users")
    log_in(page, "root", "correct horse")
    rows = page.get_by_test_id("users").locator("tr")
    page.locator("[data-user=judge]").wait_for()
    # Nobody locks themselves out.
    assert page.locator("[data-user=root]").get_by_role("button", name="Remove").is_hidden()
    page.get_by_label("Name").fill("cook")
    page.get_by_label("Role").select_option("merchant")
    page.get_by_label("Confined to", exact=True).fill("grill, bakery")
    page.get_by_role("button", name="Add").press("Enter")
    cook = page.locator("[data-user=cook]")
    cook.get_by_text("nothing yet").wait_for()
    assert cook.get_by_label("What cook is confined to").input_value() == "grill, bakery"
    cook.get_by_label("What cook is confined to").fill("grill")
    cook.get_by_role("button", name="Confine cook").click()
    page.get_by_text("Until now it may use grill, bakery, from then on grill.").wait_for()
    assert violations(page) == []
    agree("Confine cook?", "Confine")
    cook.get_by_role("button", name="New token").click()
    agree("Make a token for cook?", "Make it")
    page.locator("[data-testid=token]:focus").wait_for()
    token = page.get_by_test_id("token").input_value()
    assert token.startswith("tiffin_") and violations(page) == []
    page.get_by_role("button", name="Hide it").click()
    assert token not in page.content() and page.get_by_test_id("token").input_value() == ""
    other = visit("/login", of=site, origin=site.console)
    log_in(other, "cook", token)
    other.wait_for_url(lambda url: "/login" not in url)
    cook.get_by_role("button", name="Disable").click()
    agree("Disable cook?", "Disable")
    cook.get_by_text("disabled", exact=True).wait_for()
    cook.get_by_role("button", name="Enable").click()
    cook.get_by_text("enabled", exact=True).wait_for()
    page.get_by_label("Name").fill("cook")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("alert").get_by_text("there is a user 'cook' already").wait_for()
    cook.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove cook?").get_by_label("Type").fill("cook")
    agree("Remove cook?", "Remove")
    cook.wait_for(state="detached")
    assert rows.count() == 2
    other.close()
