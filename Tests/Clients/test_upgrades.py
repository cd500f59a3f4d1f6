"""A database of every earlier layout, with a log in it, is upgraded by the first server that starts, and is the same log."""

import contextlib
import hashlib
import json
import re
from datetime import date, timedelta

import pytest

from test_users import PASSWORD, log_in, user
from tiffin import (
    CHECKOUT, ReplyError, Server, connection_to, fresh_database, item_document, put_open_outlet, run_tiffin,
    section_document, sql,
)

MIGRATIONS = sorted((CHECKOUT / "migrations").glob("*.sql"))
# From here on: customers have keys; a row is a batch; there are users; deeds are in the log; partitions are those of slots.
KEYS, BATCHES, USERS, DEEDS, SLOTS = 5, 7, 9, 18, 20
CARTS = 40
PAST = """
    select md5(string_agg(r::text, '' order by r.partition, r.{place})) from tiffin.{view} as r
        join (values {heads}) as h (partition, position) on r.partition = h.partition and r.{place} <= h.position"""
# What only the database has. The log and what follows from it are copied by themselves.
BESIDE_THE_LOG = [
    "users", "user_revision", "relays", "relay_cursors", "relay_deliveries", "pictures", "pending_deeds", "signed_heads",
]


def order(client, customer, is_known):
    """Orders what a cart holds. Names and notes are taken only of customers who are known."""
    cart = f"{customer}-1"
    client("CART.ADD", cart, "kitchen", "tea", 2, *(("NOTE", "hot", "CUSTOMER", customer) if is_known else ()))
    return client(
        "CART.CHECKOUT", cart, "TOTAL", 200, *(("NAME", "Somebody", "CUSTOMER", customer) if is_known else ())).decode()


def questions(orders, days) -> list:
    """What is asked before and after an upgrade. Nothing in the answers depends on the time."""
    return [
        ("OUTLET.GET", "kitchen"), ("OUTLET.HOME", "kitchen"), ("MENU.GET", "kitchen"), ("BROWSE", "LIMIT", 10),
        *(("CART.GET", f"cart-{n}") for n in range(CARTS)), *(("CART.COUNT", f"cart-{n}") for n in range(CARTS)),
        *(("ORDER.GET", order) for order in orders),
        ("ORDERS", "OUTLET", "kitchen"), ("TAKINGS", "kitchen", "FROM", days[0], "UNTIL", days[1]),
    ]


class Log:
    """A log that this version wrote, whose server has stopped."""

    def __init__(self, url, orders, client):
        self.url = url
        # Wherever it is today when it is asked.
        days = [(date.today() + timedelta(days)).isoformat() for days in (-2, 3)]
        self.questions = questions(orders, days)
        self.answers = client.pipeline(self.questions)
        assert not [answer for answer in self.answers if isinstance(answer, ReplyError)]
        self.receipt = client("LOG.PROVE", "cart-cart-1", 1, "FORM", "links")
        self.heads = [head["position"] for head in client.json("LOG.HEAD")]

    def past(self, url):
        """What SQL shows of the part of a log that was written when this was made."""
        heads = ", ".join(f"({partition}, {position})" for partition, position in enumerate(self.heads))
        return [
            sql(PAST.format(view=view, place=place, heads=heads), url)
            for view, place in (("events", "position"), ("commits", "first_position"))
        ]


@pytest.fixture(scope="module")
def logs():
    """By the first layout that could have it, newest first."""
    with contextlib.ExitStack() as stack:
        logs = {}
        for first in (1, KEYS, DEEDS, SLOTS):
            url = stack.enter_context(fresh_database())
            assert run_tiffin("migrate", "--partitions", 2, "--database", url).returncode == 0
            if first < SLOTS:
                sql("update tiffin.partition_count set placement = 'sha256'", url)
            with Server(database=url) as server, server.client() as client:
                put_open_outlet(client, "kitchen", [section_document("all", [
                    item_document("tea", 100), item_document("bun", 50, kind="promo")])])
                client.pipeline(
                    ("CART.ADD", f"cart-{n % CARTS}", "kitchen", ("tea", "bun")[n % 2], 1) for n in range(CARTS * 4))
                orders = [order(client, customer, first >= KEYS) for customer in ("asha", "ben")]
                client("ORDER.CANCEL", orders[1], "BY", "customer", "CODE", "CUSTOMER")
                if first >= DEEDS:
                    client("CUSTOMER.FORGET", "asha")
                log = Log(url, orders, client)
            if first >= DEEDS:
                user(url, "add", "root", "--role", "admin", password=PASSWORD)
                user(url, "add", "cook", "--role", "merchant", "--only", "kitchen", "--no-password")
                assert run_tiffin("relay", "--show-secret", "--name", "till", "--database", url).returncode == 0
            logs[first] = log
        yield dict(reversed(logs.items()))


def copy(table, source, target):
    """Copies all rows, of the columns that both have."""
    columns = """
        select attname from pg_attribute where attrelid = to_regclass('tiffin.{}') and attnum > 0 and not attisdropped
            and attgenerated = '' order by attnum"""
    there = [name for name, in target.execute(columns.format(table))]
    names = ", ".join(name for name, in source.execute(columns.format(table)) if name in there)
    if not names:
        return
    target.execute(f"delete from tiffin.{table}")
    with source.cursor().copy(f"copy (select {names} from tiffin.{table}) to stdout") as rows:
        with target.cursor().copy(f"copy tiffin.{table} ({names}) from stdin") as into:
            for block in rows:
                into.write(block)


@contextlib.contextmanager
def database_of(layout, logs):
    """A database as the migrations up to this one left it, with the newest log that it could have, and that log."""
    log = next(log for first, log in logs.items() if first <= layout)
    # Users and relays were there before they were recorded in the log.
    beside = next(iter(logs.values())) if USERS <= layout < DEEDS else log
    with fresh_database() as url, connection_to(url) as target, connection_to(log.url) as source:
        target.execute("""
            create schema tiffin;
            create table tiffin.migrations (
                number integer not null primary key, name text not null, checksum text not null,
                applied_at timestamptz not null);
            create table tiffin.functions (
                single boolean not null primary key default true check (single), version integer not null,
                checksum text not null, applied_at timestamptz not null)""")
        for path in MIGRATIONS[:layout]:
            target.execute(path.read_text())
            number, name = re.match(r"(\d+)_(\w+)", path.stem).groups()
            target.execute(
                "insert into tiffin.migrations values (%s, %s, %s, now())",
                (int(number), name, hashlib.sha256(path.read_bytes()).hexdigest()))
        written = ["batches"] if layout >= BATCHES else ["events", "commits"]
        for table in ["log_head", "partition_count", "customer_keys", *written]:
            copy(table, source, target)
        with connection_to(beside.url) as owner:
            for table in BESIDE_THE_LOG:
                copy(table, owner, target)
        yield url, log


@pytest.mark.parametrize("layout", range(1, len(MIGRATIONS) + 1), ids=lambda n: MIGRATIONS[n - 1].stem)
def test_a_server_upgrades_what_any_earlier_version_left(logs, layout):
    with database_of(layout, logs) as (url, log):
        with Server(database=url) as server:
            has_users = sql("select count(*) > 0 from tiffin.users", url) == "t"
            with log_in(server.port, "root") if has_users else server.client() as client:
                assert client.pipeline(log.questions) == log.answers
                assert client("LOG.PROVE", "cart-cart-1", 1, "FORM", "links", "HEAD", json.loads(
                    log.receipt)["head"]["position"]) == log.receipt
                assert client("CART.ADD", "cart-1", "kitchen", "tea", 1) == client("CART.COUNT", "cart-1")
                placed = order(client, "carl", True)
                assert client.json("ORDER.GET", placed)["name"] == "Somebody"
            assert server.stop() == 0
        assert log.past(url) == log.past(log.url)
        audit = run_tiffin("audit", "--database", url)
        assert audit.returncode == 0, audit.stdout
        assert run_tiffin("migrate", "--database", url).stdout == "nothing to do: the schema is up to date\n"
