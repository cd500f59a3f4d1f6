"""A day at an outlet: a merchant opens it and changes its menu, a customer orders, and both see what comes of it.

    PYTHONPATH=Clients/python python3 Clients/python/examples/day.py STORE CONSOLE OUTLET

With users, TIFFIN_USER and TIFFIN_TOKEN are those of an admin. The tests run it while every connection is cut again and
again, and look into the log for what was done twice or not at all.
"""

import os
import sys

from tiffin_client import Console, Money, Store, TiffinError
from tiffin_client.documents import ItemInput, MenuInput, OutletInput, SectionInput

STORE, CONSOLE, OUTLET = sys.argv[1:]
PLACE = OutletInput(
    name="The Bakery", city="Bath", area="Walcot", currency="GBP", time_zone="Europe/London", cuisines=["British"])


def item(name: str, price: int) -> ItemInput:
    return ItemInput(id=name, kind="menuItem", name=name.title(), price=price, max_quantity=20)


def open_outlet(console: Console) -> None:
    console.put_outlet(OUTLET, PLACE)
    console.put_menu(OUTLET, MenuInput(sections=[
        SectionInput(id="baked", title="Baked", kind="menuItems", items=[item("pie", 1200), item("roll", 350)]),
        SectionInput(id="drinks", title="Drinks", kind="menuItems", items=[item("tea", 250), item("milk", 200)]),
    ]))
    console.open_outlet(OUTLET)
    print(f"{OUTLET} is open")


def change_menu(store: Store, console: Console) -> None:
    """Whoever follows the home sees what whoever reads it sees."""
    homes = store.follow_home(OUTLET)
    next(homes)
    console.set_item_price(OUTLET, "pie", 1250)
    console.put_section(OUTLET, "drinks", SectionInput(title="Hot drinks", kind="menuItems"), before="baked")
    console.put_item(OUTLET, "baked", "bun", item("bun", 300), before="roll")
    console.remove_item(OUTLET, "milk")
    home = store.get_home(OUTLET)
    if any(update.state == "live" and update.document == home for update in homes):
        menu = store.get_menu(OUTLET)
        print(f"the home was followed: {', '.join(section.id for section in menu.sections)}")


def order(store: Store, console: Console) -> str:
    """Orders a pie and follows the order until it was handed over, while the merchant does what is next."""
    pie = store.search_items({"outlet": OUTLET, "text": "pie", "limit": 1}).items[0]
    store.add_to_cart(OUTLET, pie.item, 2, note="no peas")
    store.add_to_cart(OUTLET, "tea", 1)
    cart = store.get_cart()
    assert cart
    tea = next(line.line for line in cart.lines if line.item == "tea")
    store.set_quantity(tea, 3)
    store.remove_line(tea)
    store.set_tip(100)
    try:
        store.place_order(total=1)
    except TiffinError as error:
        if error.code != "TOTALCHANGED":
            raise
    quote = store.get_quote()
    assert quote
    placed = store.place_order(quote=quote.quote)
    steps = {
        "placed": console.accept_order, "accepted": console.prepare_order, "preparing": console.ready_order,
        "ready": console.complete_order,
    }
    seen = []
    for update in store.follow_order(placed):
        if update.state != "live" or update.document.status in seen:
            continue
        seen.append(update.document.status)
        if seen[-1] == "completed":
            print(f"{' '.join(seen)}: {Money(update.document.total, update.document.currency)}")
            break
        steps[seen[-1]](placed)
    return placed


def be_refused(store: Store, console: Console) -> None:
    """The same tap twice is one tap, and what is sold out cannot be had."""
    for _ in range(2):
        count = store.add_to_cart(OUTLET, "roll", 1, key="tap-1")
    print(f"tapped twice: {count}")
    console.suspend_item(OUTLET, "roll")
    try:
        store.add_to_cart(OUTLET, "roll", 1)
    except TiffinError as error:
        print(f"refused: {error.code}, {error.status}")
    store.clear_cart()


with Store(STORE) as store, Console(
        CONSOLE, user=os.environ.get("TIFFIN_USER"), token=os.environ.get("TIFFIN_TOKEN")) as console:
    open_outlet(console)
    change_menu(store, console)
    orders = [order(store, console) for _ in range(3)]
    be_refused(store, console)
    with Store(STORE, session=store.session) as again:
        print(f"{len(again.list_orders().orders)} orders")
    print(*orders)
