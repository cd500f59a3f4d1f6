"""Tables that follow from the log: whatever somebody writes into them, the log decides."""

import itertools
import random

import pytest

from tampering import tamper
from tiffin import Server, fresh_database, item_document, put_open_outlet, run_tiffin, section_document, sql, wait_until

CARTS = [f"cart-{n}" for n in range(6)]
TABLES = [
    "projection_checkpoints", "outlet_home_rows", "cart_count_rows", "order_rows", "takings_rows",
    "supply_rows", "process_rows", "quarantine", "stream_index", "log_head",
]


def load(server):
    """Carts, orders in several states, and two outlets; each event in a batch of its own."""
    menu = [section_document("all", [item_document(f"dish-{n}", 500 + n) for n in range(3)])]
    with server.client() as client:
        for outlet in ("kitchen", "bakery"):
            put_open_outlet(client, outlet, menu)
        for _ in range(5):
            for cart in CARTS:
                client("CART.ADD", cart, "kitchen", "dish-0", 1)
        for cart in ("eaten-1", "eaten-2", "hurt"):
            for _ in range(3):
                client("CART.ADD", cart, "bakery", "dish-1", 1)
        client("MENU.ITEM.STOCK", "bakery", "dish-1", "COUNT", 50)
        for cart in ("eaten-1", "eaten-2"):
            client("CART.CHECKOUT", cart, "TOTAL", 1503)
        client("MENU.ITEM.PRICE", "kitchen", "dish-2", 900)


@pytest.fixture(scope="module")
def origin():
    """A database with a log, one stream of which is damaged, and with everything that follows from it."""
    with fresh_database() as url:
        with Server(database=url) as server:
            load(server)
        tamper("update tiffin.events set payload = '{' where stream = 'cart-hurt' and version = 2", url)
        sql(f"truncate {', '.join('tiffin.' + table for table in TABLES if table != 'log_head')}", url)
        with Server(database=url):
            pass
        for table in TABLES:
            assert sql(f"select count(*) > 0 from tiffin.{table}", url) == "t", table
        yield url


@pytest.fixture
def copy(origin):
    with fresh_database(origin) as url:
        yield url


def answers(client):
    """What a server says of everything, refusals included."""
    orders = [order["order"] for order in client.json("ORDERS")["orders"]]
    carts = [*CARTS, "eaten-1", "eaten-2", "hurt", "nobody"]
    questions = [
        ("ORDERS",), ("OUTLETS",), ("BROWSE",), *(("ORDER.GET", order) for order in orders),
        *((command, cart) for command in ("CART.COUNT", "CART.GET") for cart in carts),
        *((command, outlet) for command in ("OUTLET.GET", "MENU.GET", "OUTLET.HOME") for outlet in ("kitchen", "bakery")),
        *(("LOG.READ", "STREAM", f"cart-{cart}") for cart in carts),
        *(("LOG.READ", "STREAM", f"order-{order}") for order in orders),
        ("STOCK", "bakery"), ("LOG.READ", "STREAM", "menu-kitchen"), ("LOG.READ", "STREAM", "outlet-bakery"),
        ("LOG.PROVE", "cart-cart-3", 5), ("LOG.PROVE", "menu-kitchen", 1),
    ]
    found = {}
    for question in questions:
        client.send(b"".join(b"%s " % word.encode() for word in map(str, question)) + b"\r\n")
        reply = client.read()
        found[question] = str(reply) if isinstance(reply, Exception) else reply
    return found


def write(client):
    """A command on every stream continues it, and one on a new stream begins that."""
    for cart in CARTS:
        assert client("CART.ADD", cart, "kitchen", "dish-0", 1) == 6, cart
    for cart in ("eaten-1", "eaten-2"):
        assert client.error("CART.ADD", cart, "bakery", "dish-1", 1).code == "STATE"
    assert client.error("CART.ADD", "hurt", "bakery", "dish-1", 1).code == "CORRUPT"
    assert client("CART.ADD", "new", "bakery", "dish-1", 1) == 1


def check_versions(url):
    """No version of a stream is in the log twice, and none is left out."""
    assert sql("select stream, version, count(*) from tiffin.events where stream <> 'cart-hurt' "
               "group by 1, 2 having count(*) > 1", url) == ""
    assert sql("select stream from tiffin.events where stream <> 'cart-hurt' group by 1 having count(*) <> max(version)",
               url) == ""


@pytest.fixture(scope="module")
def expected(origin):
    with fresh_database(origin) as url, Server(database=url) as server, server.client() as client:
        return answers(client)


def columns(url):
    rows = sql(
        "select table_name || ' ' || column_name || ' ' || data_type from information_schema.columns "
        f"where table_schema = 'tiffin' and table_name in ({', '.join(map(repr, TABLES))})", url)
    return [tuple(row.split(" ", 2)) for row in rows.splitlines()]


def changed(chance, table, column, kind):
    """An expression that gives another value of the column."""
    if kind in ("bigint", "integer", "smallint"):
        return chance.choice([f"{column} + 1", f"{column} - 1", "0", f"-{column}", f"{column} + 1000", "77"])
    if kind == "bytea":
        return chance.choice(["''", f"set_byte({column}, 3, 255 - get_byte({column}, 3))", "sha256('x')"])
    return chance.choice([
        "''", f"{column} || 'x'", f"left({column}, 3)",
        f"(select max(other.{column}) from tiffin.{table} as other)", f"replace({column}, '1', '2')"])


def some_row(chance, table):
    return f"(select ctid from tiffin.{table} order by hashtext(ctid::text || '{chance.random()}') limit 1)"


def alterations(url, seed):
    """For every table: each column of a row changed, a row gone, and all rows gone. What no row can hold is left out."""
    chance = random.Random(seed)
    for table in TABLES:
        if table != "log_head":  # a log without a head is not served at all
            yield f"{table}: a row gone", (
                f"delete from tiffin.{table} where ctid = {some_row(chance, table)}")
            yield f"{table}: all rows gone", f"delete from tiffin.{table}"
    for table, column, kind in columns(url):
        # Where a partition is written is no derived value: it decides.
        if (table, column) in {("log_head", "partition"), ("log_head", "moved_to")}:
            continue
        yield f"{table}.{column}", (
            f"update tiffin.{table} set {column} = {changed(chance, table, column, kind)} "
            f"where ctid = {some_row(chance, table)}")


@pytest.mark.parametrize("half", [0, 1])
def test_whatever_is_altered_in_a_derived_row_the_answers_stay(origin, expected, half):
    wrong = {}
    for what, statement in itertools.islice(alterations(origin, seed=1), half, None, 2):
        with fresh_database(origin) as url:
            try:
                sql(statement, url)
            except RuntimeError as refusal:
                assert "violates" in str(refusal) or "out of" in str(refusal), (what, refusal)
                continue
            try:
                with Server(database=url) as server, server.client() as client:
                    got = answers(client)
                    # There is no proof for a head that is not where the batches end.
                    different = {
                        question: got.get(question) for question in expected if got.get(question) != expected[question]
                        and not (what.startswith("log_head.") and question[0] == "LOG.PROVE")}
                    assert not different, different
                    write(client)
                with Server(database=url) as server, server.client() as client:
                    assert client("CART.ADD", "cart-0", "kitchen", "dish-0", 1) == 7
                check_versions(url)
            except AssertionError as fault:
                wrong[what] = f"{statement}: {str(fault)[:300]}"
    assert not wrong, "\n".join(f"{what}: {fault}" for what, fault in wrong.items())


OF_CART = "stream = hashtextextended('cart-cart-3', 0)"
NTH = "(select first_position from tiffin.stream_index where {0} order by 1 {1} limit 1)"
INDEXES = {
    "the last row of a cart gone": f"delete from tiffin.stream_index where {OF_CART} and first_position = "
                                   + NTH.format(OF_CART, "desc"),
    "the first row of a cart gone": f"delete from tiffin.stream_index where {OF_CART} and first_position = "
                                    + NTH.format(OF_CART, "asc"),
    # Of a damaged stream, no projection knows how far it goes.
    "the last row of a damaged cart gone": "delete from tiffin.stream_index where stream = hashtextextended('cart-hurt', 0) "
        "and first_position = " + NTH.format("stream = hashtextextended('cart-hurt', 0)", "desc"),
    "all rows of a cart gone": f"delete from tiffin.stream_index where {OF_CART}",
    "all rows but the end gone": "delete from tiffin.stream_index where stream is not null",
    "rows of a cart changed": f"update tiffin.stream_index set first_position = 1 where {OF_CART}",
    "rows of a cart made another's": f"update tiffin.stream_index set stream = stream + 1 where {OF_CART}",
    "rows of every stream gone": "delete from tiffin.stream_index where stream is not null and first_position > 3",
}


@pytest.mark.parametrize("moment", ["at start", "running"])
@pytest.mark.parametrize("what", INDEXES)
def test_a_version_that_is_in_the_log_is_never_written_again(copy, expected, what, moment):
    if moment == "at start":
        sql(INDEXES[what], copy)
    with Server(database=copy) as server, server.client() as client:
        if moment == "running":
            sql(INDEXES[what], copy)
        assert client("CART.GET", "cart-3") == expected["CART.GET", "cart-3"]
        assert answers(client) == expected
        write(client)
        # It mends the index by itself, also for streams that nobody asked for.
        wait_until(lambda: missing_rows(copy) == [], "the index to be mended")
    check_versions(copy)


def index_faults(url):
    audit = run_tiffin("audit", "--database", url)
    return [line for line in audit.stdout.splitlines() if "stream_index" in line]


def missing_rows(url):
    return [line for line in index_faults(url) if "has no row of" in line]


@pytest.mark.parametrize("what", INDEXES)
def test_an_audit_compares_the_index_with_the_log(copy, what):
    assert index_faults(copy) == []
    sql(INDEXES[what], copy)
    audit = run_tiffin("audit", "--database", copy)
    assert "stream_index has no row of" in audit.stdout, audit.stdout
    assert audit.returncode == 2, "the copy has a damaged event"


def test_an_audit_names_rows_of_the_index_that_lead_to_nothing(copy):
    sql("insert into tiffin.stream_index values (0, hashtextextended('cart-nobody', 0), 1)", copy)
    assert len(index_faults(copy)) == 1
    assert "a row of stream_index leads to batch 1, which has nothing of its stream" in index_faults(copy)[0]
