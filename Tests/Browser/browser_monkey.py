"""A monkey with hands: it flings, taps, says codes, orders, cancels, orders again and goes offline in a real browser, and
cooks, undoes and sells out in another, while a merchant edits the menu and the server is killed and started. The same seed does the same
again. Afterwards everything has to agree.

usage: browser_monkey.py [--seed N] [--steps N] [--headed]
"""

import argparse
import json
import random
import sys
import time
from collections import Counter

from site_under_test import (
    FRAMES, PATIENCE_SECONDS, Site, badge, cart, chromium, expected_home, launched_browser, put_kitchen, shown_home, violations,
)
from tiffin import fresh_database, item_document, read_log, wait_until

OUTLET = "monkeys"
# As long as a tap in the kitchen can be undone, and a little more, in milliseconds.
UNDO = 5100

# So many orders can have the second code, and there is no third.
FEW = 2
CODES = ["TEN", "FEW", "NONE"]

# Holds the bar against its rule in every frame. It reads the place where the browser reads it: in the frame itself, since
# a later task of a busy page would miss places. The browser tells the page of a frame when it has time to. So the bar may
# be late, but it must only do what the rule has said since it last did something, and in the end what the rule says.
WATCH_BAR = """() => {
    const isShown = () => "shown" in document.querySelector(".tag-bar").dataset;
    let said = [isShown()];
    window.wrongBars = [];
    window.frames_seen = 0;
    window.isBarRight = () => isShown() === said.at(-1);
    const look = () => {
        const top = document.querySelector(".top").getBoundingClientRect().bottom;
        const visible = document.querySelector(".hero").getBoundingClientRect().bottom - top;
        const says = visible < 36 ? true : visible > 72 ? false : said.at(-1);
        if (says !== said.at(-1)) said.push(says);
        const done = said.indexOf(isShown());
        if (done < 0) window.wrongBars.push([window.frames_seen, visible, isShown()]);
        else said = said.slice(done);
        window.frames_seen += 1;
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""


class Monkey:
    def __init__(self, browser, site, seed):
        self.dice = random.Random(seed)
        self.site = site
        self.complaints = []
        self.taps = 0
        self.orders = 0
        self.kills = 0
        self.edits = 0
        self.frames = 0
        self.is_offline = False
        self.client = site.server.client()
        put_kitchen(self.client, OUTLET, acceptWithin=3600, prepMinutes=20)
        for id, promotion in (("ten", {"give": {"percent": 10_000}, "code": "TEN"}), ("few", {"give": {"amount": 50}, "code": "FEW", "limit": FEW})):
            self.client("PROMO.PUT", OUTLET, id, json.dumps({"title": id.title(), "on": "order", **promotion}))
        self.context = browser.new_context(viewport={"width": 390, "height": 844})
        self.context.set_default_timeout(PATIENCE_SECONDS * 1000)
        self.page = site.open(self.context, f"{site.origin}/o/{OUTLET}", self.complaints)
        self.page.evaluate(WATCH_BAR)
        self.page.evaluate("() => navigator.serviceWorker.ready")
        self.kitchen = browser.new_context(viewport={"width": 1180, "height": 800})
        self.kitchen.set_default_timeout(PATIENCE_SECONDS * 1000)
        self.kitchen.clock.install()
        self.board = site.open(self.kitchen, f"{site.console}/kitchen/{OUTLET}", self.complaints)
        # The steps that were undone, each with its order.
        self.undone = set()

    def step(self):
        actions = {
            self.fling: 6, self.tap_chip: 3, self.swipe_carousel: 2, self.add: 6, self.take_one_back: 1,
            self.open_item: 2, self.edit: 4, self.toggle_network: 1, self.kill: 0.4, self.order: 1.5, self.cook: 2,
            self.sell_out: 0.5, self.say_code: 1.5,
        }
        action = self.dice.choices(list(actions), actions.values())[0]
        action()
        self.page.wait_for_function("() => window.isBarRight()")
        return action.__name__

    # --- what a hand does

    def fling(self):
        self.page.mouse.move(195, 500)
        for _ in range(self.dice.randrange(1, 6)):
            self.page.mouse.wheel(0, self.dice.choice([-1, 1, 1]) * self.dice.randrange(40, 1500))

    def tap_chip(self):
        shown = self.page.evaluate("() => 'shown' in document.querySelector('.tag-bar').dataset")
        if shown:
            chips = self.page.locator(".tag-bar a")
            chips.nth(self.dice.randrange(chips.count())).evaluate("(chip) => chip.click()")

    def swipe_carousel(self):
        section = self.dice.choice(["offers", "desserts"])
        self.page.evaluate("([section, by]) => document.querySelector(`#s-${section} .items`).scrollBy({ left: by })",
                           [section, self.dice.randrange(-400, 400)])

    # A tap on what is under the finger. Asking every button where it is would lay out the whole page.
    def add(self):
        name = self.page.evaluate("""([x, y]) => {
            for (let down = 0; down < 400; down += 20) {
                const item = document.elementFromPoint(x, y + down)?.closest(".item");
                if (item) {
                    item.querySelector(".add").focus({ preventScroll: true });
                    item.querySelector(".add").click();
                    return item.dataset.item;
                }
            }
            return null;
        }""", [self.dice.randrange(40, 350), self.dice.randrange(150, 400)])
        self.taps += name is not None

    def take_one_back(self):
        self.page.locator("#cart-button").click()
        # Looked for and tapped at once: the page may change in between.
        self.taps -= self.page.evaluate("""(part) => {
            const less = document.querySelectorAll("#cart-sheet [data-focus=less]:not([aria-disabled])");
            less[Math.floor(part * less.length)]?.click();
            return less.length > 0;
        }""", self.dice.random())
        self.page.keyboard.press("Escape")

    def open_item(self):
        self.page.evaluate("""([x, y]) => {
            document.elementFromPoint(x, y)?.closest(".item")?.querySelector(".open").click();
        }""", [self.dice.randrange(40, 350), self.dice.randrange(150, 700)])
        if self.page.locator("#item-sheet[open]").count():
            self.page.keyboard.press("Escape")
            self.page.wait_for_function("() => !location.search.includes('item=')")

    def toggle_network(self):
        self.is_offline = not self.is_offline
        self.context.set_offline(self.is_offline)

    # Says a code, or takes one back.
    def say_code(self):
        if self.is_offline or badge(self.page) == 0:
            return
        self._wait_for_cart()
        self.page.locator("#cart-button").click()
        codes = self._codes()
        code = self.dice.choice(CODES)
        if codes and self.dice.random() < 0.4:
            code = self.dice.choice(codes)
            self.page.get_by_label(f"Take back {code}").click()
            wait_until(lambda: code not in self._codes(), "a code to be taken back")
        else:
            self.page.get_by_label("Promotion code").fill(code.lower())
            self.page.get_by_role("button", name="Use", exact=True).click()
            trouble = self.page.locator("#code-trouble:not([hidden])")
            wait_until(lambda: code in self._codes() or trouble.count(), "a code")
            if (code == "NONE") == (code in self._codes()):
                self.complaints.append(f"the code {code} is {'' if code == 'NONE' else 'not '}taken")
        self.page.keyboard.press("Escape")

    def order(self):
        if self.is_offline or badge(self.page) == 0:
            return
        self.page.locator("#cart-button").click()
        order = self.page.locator("[data-testid=checkout_btn]:not([aria-disabled])")
        order.wait_for()
        self.frames += self.page.evaluate("() => window.frames_seen")
        seen = self.page.get_by_test_id("cart_total").text_content()
        order.click()
        refusal = self.page.locator("#cart-sheet [role=alert]:not([hidden])")
        wait_until(lambda: refusal.count() or "/order/" in self.page.url, "an order")
        if "/order/" not in self.page.url:
            # Its price has just changed.
            self.page.keyboard.press("Escape")
            return
        self.orders += 1
        self.page.get_by_test_id("order_status").wait_for()
        paid = self.page.locator("main [data-ref=total]").last.text_content()
        if paid != seen:
            self.complaints.append(f"an order costs {paid}, and {seen} was seen")
        match self.dice.randrange(4):
            case 0:
                self.page.get_by_role("button", name="Cancel the order").click()
                self.page.get_by_role("dialog").get_by_role("button", name="Cancel the order").click()
                self.page.get_by_test_id("order_status").filter(has_text="Cancelled").wait_for()
            case 1:
                self.page.get_by_role("button", name="Order again").click()
                self.page.locator("#cart-sheet[open]").wait_for()
                self.taps += badge(self.page)
                self.page.go_back()
                self.page.locator("#cart-sheet").wait_for(state="hidden")
        self.page.get_by_test_id("order_place").click()
        self.page.wait_for_url("**/o/*")
        self.page.locator(".item").first.wait_for()
        self.page.evaluate(WATCH_BAR)

    # --- what cooks do

    # The next step of some order, which is sometimes undone.
    def cook(self):
        tapped = self.board.evaluate("""(part) => {
            const buttons = [...document.querySelectorAll(".order [data-focus=next]")].filter((node) => node.checkVisibility());
            const button = buttons[Math.floor(part * buttons.length)];
            button?.click();
            return button ? [button.closest(".order").dataset.order, button.textContent] : null;
        }""", self.dice.random())
        if tapped is None:
            return
        undo = self.board.locator(f"[data-order='{tapped[0]}']").get_by_role("button", name="Undo")
        self.board.evaluate(FRAMES)
        if self.dice.random() < 0.3 and undo.is_visible():
            undo.click()
            self.undone.add(tuple(tapped))
        else:
            self.undone.discard(tuple(tapped))
            if self.dice.random() < 0.5:
                self.board.clock.fast_forward(UNDO)

    # Nothing may be on its way to what is sold out: it would be refused.
    def sell_out(self):
        if not self.is_offline:
            self._wait_for_cart()
        self.board.get_by_role("button", name="Sold out", exact=True).click()
        row = self.board.get_by_test_id("stock").locator("li").nth(self.dice.randrange(20))
        row.get_by_role("button", name="For an hour").click()
        row.get_by_role("button", name="Bring it back").click()
        row.get_by_role("button", name="For an hour").wait_for()
        self.board.go_back()
        self.board.locator("dialog[open]").wait_for(state="detached")

    def _wait_for_cart(self):
        wait_until(lambda: (cart(self.page) or {"count": 0})["count"] == badge(self.page), "the cart")

    # Those that the server has.
    def _codes(self):
        return [each["code"] for each in (cart(self.page) or {}).get("codes", [])]

    # --- what others do meanwhile

    def edit(self):
        sections = self.client.json("MENU.GET", OUTLET)["sections"]
        section = self.dice.choice([each for each in sections if each["items"]])
        item = self.dice.choice(section["items"])
        self.edits += 1
        match self.dice.randrange(4):
            case 0:
                self.client("MENU.ITEM.PRICE", OUTLET, item["id"], self.dice.randrange(100, 3000))
            case 1:
                new = f"new{self.edits}"
                document = json.dumps(item_document(new, 900, name=f"New {self.edits}"))
                self.client("MENU.ITEM.PUT", OUTLET, section["id"], new, document, "BEFORE", item["id"])
            case 2:
                other = self.dice.choice(sections)["id"]
                if other != section["id"]:
                    self.client("MENU.ITEM.PUT", OUTLET, other, item["id"], json.dumps(item))
            case 3:
                renamed = json.dumps({**item, "name": f"{item['name']}!"[:60]})
                self.client("MENU.ITEM.PUT", OUTLET, section["id"], item["id"], renamed)

    def kill(self):
        self.client.close()
        self.site.server.kill()
        self.add()
        self.site.start()
        self.client = self.site.server.client()
        self.kills += 1

    # --- what has to hold

    def check(self):
        """Everything that does not hold, as texts."""
        self.context.set_offline(False)
        self.is_offline = False
        found = []
        had_focus = self.page.evaluate("() => document.activeElement !== document.body")
        self.edit()

        def agree(what, left, right):
            try:
                wait_until(lambda: left() == right(), what)
            except TimeoutError:
                found.append(f"{what}: {left()!r} is not {right()!r}")

        agree("the badge is what the carts hold", lambda: badge(self.page), lambda: self._open_carts())
        agree("every tap arrived once", lambda: self.taps, lambda: self._everything_added())
        agree("the page is the home of now", lambda: shown_home(self.page), lambda: expected_home(self.client, OUTLET))
        agree("there are as many orders as were seen", lambda: self.orders, lambda: len(self._streams("order-")))
        self.board.clock.fast_forward(UNDO)
        agree("no tap of the kitchen waits", lambda: self.board.evaluate("() => sessionStorage.length"), lambda: 0)
        agree("no step of an order was taken twice, and none that was undone", lambda: self._wrong_steps(), lambda: [])
        agree("the board has the orders of the kitchen", self._orders_on_board, self._orders_in_kitchen)
        agree("no code is used too often", lambda: max(len(self._orders_with("few")) - FEW, 0), lambda: 0)
        if had_focus and self.page.evaluate("() => document.activeElement === document.body"):
            found.append("a patch has taken the focus")
        agree("the bar follows its rule", lambda: self.page.evaluate("() => window.isBarRight()"), lambda: True)
        if wrong := self.page.evaluate("() => window.wrongBars"):
            found.append(f"the bar breaks its rule: {wrong[:5]}")
        self.frames += self.page.evaluate("() => window.frames_seen")
        self.page.emulate_media(reduced_motion="reduce")
        found += [f"axe: {violation}" for violation in violations(self.page)]
        found += [f"the page complains: {complaint}" for complaint in self.complaints]
        return found

    def _wrong_steps(self):
        kinds = {"Accept": "order.accepted", "Start cooking": "order.preparationStarted", "It is ready": "order.readied",
                 "Handed over": "order.completed"}
        steps = Counter((event["stream"].removeprefix("order-"), event["kind"]) for event in read_log(self.client)
                        if event["stream"].startswith("order-"))
        undone = {(order, kinds[step]) for order, step in self.undone}
        return [step for step, count in steps.items() if count > 1 or step in undone]

    def _orders_on_board(self):
        return sorted(self.board.evaluate(
            "() => [...document.querySelectorAll('.order:not([data-over])')].map(({ dataset }) => dataset.order)"))

    def _orders_in_kitchen(self):
        return sorted(order["order"] for order in self.client.json("KITCHEN", OUTLET)["orders"])

    def _orders_with(self, promotion):
        orders = [self.client.json("ORDER.GET", order) for order in self._streams("order-")]
        return [order["order"] for order in orders if order["status"] not in ("cancelled", "rejected")
                and any(charge["kind"] == "discount" and charge["id"] == promotion for charge in order.get("charges", []))]

    def _streams(self, prefix):
        streams = {event["stream"] for event in read_log(self.client)}
        return [stream.removeprefix(prefix) for stream in streams if stream.startswith(prefix)]

    def _open_carts(self):
        return sum(self.client("CART.COUNT", cart) for cart in self._streams("cart-"))

    def _everything_added(self):
        return sum(self.client.json("CART.GET", cart)["count"] for cart in self._streams("cart-"))


def run(browser, seed, steps, say=lambda text: None):
    """Plays that many steps; answers the monkey and what does not hold."""
    with fresh_database() as url, Site(url) as site:
        monkey = Monkey(browser, site, seed)
        for number in range(steps):
            say(f"{number + 1}: {monkey.step()}")
        found = monkey.check()
        monkey.client.close()
        monkey.context.close()
        monkey.kitchen.close()
        return monkey, found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--headed", action="store_true")
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    if chromium() is None:
        sys.exit("monkey-browser: there is no Chromium")
    began = time.monotonic()
    print(f"monkey-browser: seed {options.seed}, {options.steps} steps", flush=True)
    with launched_browser(headless=not options.headed) as browser:
        monkey, found = run(browser, options.seed, options.steps, print if options.trace else lambda text: None)
    print(f"monkey-browser: {monkey.taps} items, {monkey.orders} orders, {monkey.edits} edits, {monkey.kills} kills, "
          f"{monkey.frames} frames in {time.monotonic() - began:.0f} s")
    for each in found:
        print(f"  {each}")
    if found:
        print(f"monkey-browser: FAILED; again: make monkey-browser SEED={options.seed} STEPS={options.steps}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
