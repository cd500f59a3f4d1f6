"""What lies in memory: `Scripts/bench memory`, and of each thing by itself, `Scripts/bench things`."""

import contextlib
import json
import os
import sqlite3
import tempfile
import time

from add import CARTS
from harness import (
    SAVED_SECONDS, STEP_SECONDS, checked, put_kitchen, redis_server, resident_megabytes, seconds_to_first_reply,
    tiffin_server, until_saved,
)
from ordering import place_orders, put_outlets
from peers import PeopleInTantivy
from people import People

# Found once `harness` has said where the client tests lie.
from tiffin import SHARED_DATA, Client, ReplyError, outlet_document, run_tiffin, wait_until

OUTLET_MAP = (
    "id=ID,name=Restaurant,city=City,area=Area,address=Address,cuisines=Food type,priceForTwo=Price,"
    "rating=Ratings,ratingCount=Total ratings,deliveryMinutes=Delivery time"
)
PEOPLE, ORDERS = 100_000, 50_000
# So many of these attributes, of every type some. A badge needs the first two.
ATTRIBUTES = (
    "label", "points", "hobbies", "smoker", "height", "bloodType", "languages", "vegan", "income", "age", "shoeSize", "eyes")
STEPS = (2, 4, 8, 12)
# jemalloc gives back within ten seconds what is free.
SETTLING_SECONDS = 12


def put_many_outlets(server, client) -> str:
    """8,680 outlets: real ones where they lie beside the checkout. Says which."""
    real = SHARED_DATA / "swiggy-outlets.csv"
    if real.exists():
        run = run_tiffin("import", "outlets", real, "--map", OUTLET_MAP, "--currency", "INR", "--time-zone",
                         "Asia/Kolkata", "--server", f"127.0.0.1:{server.port}", seconds=STEP_SECONDS)
        if run.returncode != 0:
            raise RuntimeError(f"tiffin import: {run.stderr[-500:]}")
        return "real"
    checked(client.pipeline(
        command for n in range(8680) for command in [
            ("OUTLET.PUT", f"outlet-{n}", json.dumps(outlet_document(f"Outlet number {n}"))),
            ("OUTLET.OPEN", f"outlet-{n}")]))
    return "generated"


def measure_memory(report, rounds, quick):
    carts, kitchens = (10_000, 10) if quick else (CARTS, 100)
    with tiffin_server() as (server, _), server.client() as client:
        empty = resident_megabytes(server.process.pid)
        origin = put_many_outlets(server, client)
        report.title(f"Resident memory with 8,680 outlets ({origin}) and {carts:,} carts of three lines")
        for n in range(kitchens):
            put_kitchen(client, f"kitchen-{n}")
        with_outlets = resident_megabytes(server.process.pid)
        for first in range(0, carts, 10_000):
            checked(client.pipeline(
                ("CART.ADD", f"cart-{n}", f"kitchen-{n % kitchens}", f"dish-{line}", 1)
                for n in range(first, first + 10_000) for line in range(3)))
        filled = resident_megabytes(server.process.pid)
        server.stop()
        restarted = seconds_to_first_reply(server, "cart-0")
        after = resident_megabytes(server.process.pid)
    report.table([("", "MB"), ("empty", f"{empty:.0f}"), ("with the outlets", f"{with_outlets:.0f}"),
                  ("with the carts too", f"{filled:.0f}"), (f"restarted, in {restarted:.2f} s", f"{after:.0f}")])
    report.verdict("resident memory", max(filled, after), 500, at_least=False, unit=" MB")


# --- of each thing


def settled_bytes(server) -> int:
    """The server's resident memory once what was free has been given back."""
    time.sleep(SETTLING_SECONDS)
    return resident_megabytes(server.process.pid) * (1 << 20)


def restarted_bytes(server) -> int:
    """The same of a server that is started anew and has indexed its items."""
    with server.client() as client:
        until_saved(client)
    server.stop()
    server.start()
    with server.client() as client:
        wait_until(
            lambda: not isinstance(client.pipeline([("BROWSE", "LIMIT", 1)])[0], ReplyError),
            "the items to be indexed", seconds=SAVED_SECONDS)
        return settled_bytes(server)


def tiffin_bytes(people) -> int:
    with tiffin_server() as (server, _):
        with server.client() as client:
            checked(client.pipeline(people.commands(), window=16))
        return restarted_bytes(server)


def content(member) -> dict:
    """What an item says, by names, without what is not said."""
    document = member.document()
    said = {"outlet": member.club, "item": member.id, "name": member.name, **document["attributes"]}
    return {name: " ".join(value) if isinstance(value, tuple) else str(value) for name, value in said.items()
            if value is not None}


def redis_bytes(hashes) -> int:
    """What a Redis takes for so many hashes."""
    with redis_server() as port, Client(port) as client:
        def used():
            return int(client("INFO", "memory").split(b"used_memory:")[1].split()[0])

        before = used()
        checked(client.pipeline(("HSET", key, *(word for pair in fields.items() for word in pair)) for key, fields in hashes))
        return used() - before


def fts_bytes(people) -> int:
    """The size of a file of SQLite with an index of all words, and with the items themselves."""
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(sqlite3.connect(f"{folder}/people.db")) as connection:
        columns = ("outlet", "item", "name", *ATTRIBUTES)
        connection.execute(f"create virtual table people using fts5({', '.join(columns)})")
        connection.executemany(f"insert into people values ({', '.join('?' * len(columns))})", (
            [said.get(name) for name in columns] for said in map(content, people)))
        connection.execute("insert into people(people) values ('optimize')")
        connection.commit()
        connection.execute("vacuum")
        return os.path.getsize(f"{folder}/people.db")


def tantivy_bytes(people) -> int:
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(PeopleInTantivy(folder)) as index:
        index.load(people)
        return sum(entry.stat().st_size for entry in os.scandir(folder))


def measure_things(report, rounds, quick):
    few = 10 if quick else 1
    people = [People(PEOPLE // few, ATTRIBUTES[step:]) for step in STEPS]
    report.title(f"Bytes of an item with 2 to 12 attributes: {PEOPLE // few:,} of them")
    nobody = tiffin_bytes(People(0))
    rows = [("attributes", *map(str, STEPS), "for one more")]
    for name, measure in {
        "Tiffin, memory of a server started anew": lambda some: tiffin_bytes(some) - nobody,
        "Redis hash, memory": lambda some: redis_bytes((member.id, content(member)) for member in some),
        "SQLite FTS5, file": fts_bytes,
        "tantivy, files": tantivy_bytes,
        "the text of the values alone": lambda some: sum(len("".join(content(member).values())) for member in some),
    }.items():
        sizes = [measure(some) / some.total for some in people]
        rows.append((name, *(f"{size:,.0f}" for size in sizes), f"{(sizes[-1] - sizes[0]) / (STEPS[-1] - STEPS[0]):.0f}"))
    report.table(rows)
    measure_carts_and_orders(report, CARTS // few, ORDERS // few)


def measure_carts_and_orders(report, carts, orders):
    report.title(f"Bytes of a cart of three lines, and of an open order: {carts:,} and {orders:,} of them")
    with tiffin_server() as (server, _):
        with server.client() as client:
            put_outlets(client)
        empty = restarted_bytes(server)
        with server.client() as client:
            checked(client.pipeline(
                ("CART.ADD", f"cart-{number}", "grill", f"dish-{line}", 1) for number in range(carts) for line in range(3)))
        filled, idle = settled_bytes(server), restarted_bytes(server)
        with server.client() as client:
            place_orders(client, 0, orders)
            client("CART.ADD", "one", "kitchen", "dish-0", 1)
            order = client.json("ORDER.GET", client("CART.CHECKOUT", "one", "TOTAL", 1_000))
        placed = restarted_bytes(server)
    line = {f"dish-{number}": 1 for number in range(3)}
    fields = {name: json.dumps(value) for name, value in order.items()}
    report.table([
        ("", "Tiffin, at hand", "Tiffin, started anew", "Redis hash"),
        ("a cart of three lines", f"{(filled - empty) / carts:,.0f}", f"{(idle - empty) / carts:,.0f}",
         f"{redis_bytes((f'cart-{number}', line) for number in range(carts)) / carts:,.0f}"),
        ("an open order", "", f"{(placed - idle) / orders:,.0f}",
         f"{redis_bytes((f'order-{number}', fields) for number in range(orders)) / orders:,.0f}")])
