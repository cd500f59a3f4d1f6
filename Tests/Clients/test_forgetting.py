"""`tiffin forget`: a customer's notes and names are shown until then, and nowhere afterwards."""

import json
import subprocess
import threading
import time
from hashlib import sha256
from pathlib import Path

import pytest

from tiffin import (
    PATIENCE_SECONDS, Server, binary, encode, item_document, open_transaction, put_open_outlet, read_log, run_tiffin,
    section_document, sql, wait_until,
)

NOTE, NAME = "leave it with Mr Perera", "Asha Fernando"
ERASED = "[erased]"


@pytest.fixture
def served(database):
    with Server(database=database) as server, server.client() as client:
        open_kitchen(client)
        yield server, client


def open_kitchen(client):
    put_open_outlet(
        client, "kitchen", [section_document("all", [item_document("tea", 100), item_document("bun", 50)])],
        minimumOrder=0)


def order(client, cart="c", customer="asha"):
    """A cart with a note, checked out under a name."""
    assert client("CART.ADD", cart, "kitchen", "tea", 2, "NOTE", NOTE, "CUSTOMER", customer, "ID", "tap") == 2
    return client("CART.CHECKOUT", cart, "TOTAL", 200, "CUSTOMER", customer, "NAME", NAME, "ID", "pay").decode()


def forget(*words):
    run = run_tiffin("forget", *words)
    assert (run.returncode, run.stderr) == (0, ""), run
    return run.stdout


def note(client, *words):
    return client.json("CART.GET", *words)["lines"][0]["note"]


def shown(client, placed):
    """Everything that a server shows about them."""
    document = client.json("ORDER.GET", placed)
    return {note(client, "c"), document["lines"][0]["note"], document["name"]}


# --- forgetting


def test_a_customer_is_forgotten_while_the_server_runs_and_stays_so(database):
    with Server(database=database) as server, server.client() as client:
        open_kitchen(client)
        placed = order(client)
        then = read_log(client, "STREAM", "cart-c")[0]["position"]
        assert shown(client, placed) == {NOTE, NAME}
        assert note(client, "c", "AT", then) == NOTE
        assert client.json("ORDER.GET", placed)["customer"] == client.json("CART.GET", "c")["customer"] == "asha"
        said = forget("asha", "--database", database)
        assert said.splitlines() == [
            "customer 'asha' is forgotten: 1 key destroyed. What was sealed shows as [erased], and CUSTOMER asha is "
            "refused from now on.",
            "The table was rewritten without the old bytes.",
            "Backups and archived WAL from before still have the key, until they expire.",
        ]

        def check(client):
            assert shown(client, placed) == {ERASED}
            assert note(client, "c", "AT", then) == ERASED
            assert client.json("ORDER.GET", placed, "AT", then + 1)["name"] == ERASED
            assert client.json("ORDER.GET", placed)["total"] == 200

        check(client)
        with server.client() as other:
            check(other)
    with Server(database=database) as again, again.client() as client:
        check(client)
    assert "forgotten already, at 20" in forget("asha", "--database", database)


def test_an_admin_forgets_customers_over_the_wire(served):
    server, client = served
    placed = order(client)
    # In one pipeline: what is asked behind it shows what is left.
    replies = client.pipeline([
        ("CUSTOMER.FORGET", "asha", "ben"), ("CART.GET", "c"), ("CUSTOMER.FORGET", "asha"),
        ("CART.ADD", "new", "kitchen", "tea", 1, "CUSTOMER", "ben")])
    assert json.loads(replies[0]) == {
        "customers": [
            {"customer": "asha", "destroyedKeys": 1, "forgottenBefore": None},
            {"customer": "ben", "destroyedKeys": 0, "forgottenBefore": None},
        ], "remainder": None}
    assert json.loads(replies[1])["lines"][0]["note"] == ERASED
    again, = json.loads(replies[2])["customers"]
    assert again["destroyedKeys"] == 0 and again["forgottenBefore"].startswith("20")
    assert replies[3].code == "FORGOTTEN"
    assert shown(client, placed) == {ERASED}
    for words in (("CUSTOMER.FORGET", "no id"), ("CUSTOMER.FORGET", "carla", "")):
        assert client.error(*words).code == "INVALID"
    assert client.error("CUSTOMER.FORGET", *(f"c{n}" for n in range(1_001))).code == "LIMIT"
    assert client("CART.ADD", "new", "kitchen", "tea", 1, "CUSTOMER", "carla") == 1
    server.wait_for_output("at 127.0.0.1:")
    assert "somebody at 127.0.0.1:" in server.output() and "customer 'asha' is forgotten: 1 key" in server.output()


def test_a_forgotten_customer_is_refused(served):
    server, client = served
    order(client)
    database = server.arguments[-1]
    forget("asha", "--database", database)
    said = forget("ben", "--database", database)
    assert said == "customer 'ben' was not known, and had no key. From now on CUSTOMER ben is refused.\n"
    for customer in ("asha", "ben"):
        for words in (
            ("CART.ADD", "new", "kitchen", "tea", 1, "CUSTOMER", customer),
            ("CART.ADD", "new", "kitchen", "tea", 1, "CUSTOMER", customer, "NOTE", "x"),
            ("CART.CHECKOUT", "new", "TOTAL", 1, "CUSTOMER", customer),
        ):
            assert client.error(*words).code == "FORGOTTEN", words
    # A call that was accepted before is not recognised: nobody can tell any more that it was the same.
    again = client.error("CART.ADD", "c", "kitchen", "tea", 2, "NOTE", NOTE, "CUSTOMER", "asha", "ID", "tap")
    assert again.code == "FORGOTTEN"
    assert client("CART.COUNT", "new") == 0
    assert client("CART.ADD", "new", "kitchen", "tea", 1, "CUSTOMER", "carla", "NOTE", "x") == 1
    assert note(client, "new") == "x"


def test_a_forgotten_customers_cart_can_be_used_without_texts(served):
    server, client = served
    client("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", NOTE, "CUSTOMER", "asha")
    forget("asha", "--database", server.arguments[-1])
    assert client("CART.ADD", "c", "kitchen", "bun", 2) == 3
    assert client("CART.SET", "c", "tea", 3) == 5
    assert client.error("CART.ADD", "c", "kitchen", "bun", 1, "NOTE", "y").code == "INVALID"
    placed = client("CART.CHECKOUT", "c", "TOTAL", 400).decode()
    document = client.json("ORDER.GET", placed)
    assert [line["note"] for line in document["lines"]] == [ERASED, None] and "name" not in document


def test_all_partitions_and_servers_forget_at_once(database):
    assert run_tiffin("migrate", "--partitions", 4, "--database", database).returncode == 0
    carts = [f"cart-{n}" for n in range(12)]
    with Server(database=database) as one, Server(database=database) as two:
        with one.client() as first, two.client() as second:
            open_kitchen(first)
            # Either may decide a cart.
            wait_until(lambda: b'"status":"open"' in (second("OUTLET.GET", "kitchen") or b""), "the other server to follow")
            for cart in carts:
                first("CART.ADD", cart, "kitchen", "tea", 1, "NOTE", NOTE, "CUSTOMER", "asha")
                first("CART.ADD", f"{cart}-ben", "kitchen", "tea", 1, "NOTE", NOTE, "CUSTOMER", "ben")
            known = int(sql("select count(*) from tiffin.customer_keys where customer = 'asha'", database))
            assert known > 1
            wait_until(lambda: all(second("CART.COUNT", cart) == 1 for cart in carts), "the other server to follow")
            assert {note(client, cart) for client in (first, second) for cart in carts} == {NOTE}
            assert f"is forgotten: {known} keys destroyed" in forget("asha", "--database", database)
            assert {note(client, cart) for client in (first, second) for cart in carts} == {ERASED}
            assert {note(client, f"{cart}-ben") for client in (first, second) for cart in carts} == {NOTE}
            for client in (first, second):
                for number in range(20):
                    reply = client.error("CART.ADD", f"n{number}", "kitchen", "tea", 1, "CUSTOMER", "asha")
                    assert reply.code == "FORGOTTEN"


def test_nobody_is_shown_a_text_once_forget_has_returned(served):
    """Clients read the present and the past all the time, while the customer is forgotten."""
    server, client = served
    client("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", NOTE, "CUSTOMER", "asha")
    at = read_log(client, "STREAM", "cart-c")[0]["position"]
    answers, stop = [], threading.Event()

    def read(*words):
        with server.client() as mine:
            while not stop.is_set():
                asked = time.monotonic()
                answers.append((asked, note(mine, *words)))

    threads = [threading.Thread(target=read, args=words) for words in [("c",), ("c", "AT", at), ("c", "AT", at)]]
    for thread in threads:
        thread.start()
    forget("asha", "--database", server.arguments[-1])
    done = time.monotonic()
    count = len(answers)
    while len(answers) < count + 30:
        assert all(thread.is_alive() for thread in threads)
    stop.set()
    for thread in threads:
        thread.join()
    assert {text for asked, text in answers if asked > done} == {ERASED}
    assert {text for _, text in answers} == {NOTE, ERASED}


def test_forget_works_on_a_data_directory_with_and_without_its_server(data_dir):
    with Server(data_dir=data_dir) as server, server.client() as client:
        open_kitchen(client)
        client("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", NOTE, "CUSTOMER", "asha")
        client("CART.ADD", "d", "kitchen", "tea", 1, "NOTE", NOTE, "CUSTOMER", "ben")
        assert "asha' is forgotten" in forget("asha", "--data-dir", data_dir)
        assert (note(client, "c"), note(client, "d")) == (ERASED, NOTE)
    run = run_tiffin("forget", "ben", "--data-dir", data_dir)
    assert run.returncode == 0 and "ben' is forgotten" in run.stdout, run
    with Server(data_dir=data_dir) as server, server.client() as client:
        assert (note(client, "c"), note(client, "d")) == (ERASED, ERASED)


# --- what is left


def test_nothing_in_the_database_can_be_read_or_guessed(served):
    server, client = served
    database = server.arguments[-1]
    placed = order(client)
    client("CART.ADD", "plain", "kitchen", "tea", 1, "NOTE", "seen by all")
    tables = sql(
        "select format('%I.%I', table_schema, table_name) from information_schema.tables "
        "where table_schema = 'tiffin' and table_type = 'BASE TABLE'", database).splitlines()
    everything = "\n".join(sql(f"select t::text from {table} t", database) for table in tables)
    assert "seen by all" in everything and "sealedNote" in everything and "sealedName" in everything
    for secret in (NOTE, NAME):
        assert secret not in everything

    # Nor does a fingerprint show whether a guess is right.
    def fingerprint(*words):
        return sha256(b"".join(len(word).to_bytes(4, "big") + word.encode() for word in words)).hexdigest()[:16]

    events = read_log(client, "STREAM", "cart-c")
    add = ("CART.ADD", "c", "kitchen", "tea", "2", "NOTE", NOTE, "CUSTOMER", "asha")
    pay = ("CART.CHECKOUT", "c", "TOTAL", "200", "CUSTOMER", "asha", "NAME", NAME)
    sealed = events[0]["payload"]["sealedNote"]
    assert [event["metadata"]["args"] for event in events] == [
        fingerprint(*add[:6], sealed, *add[7:]), fingerprint(*pay[:7], events[1]["payload"]["sealedName"]),
    ]
    assert fingerprint(*add) not in everything and fingerprint(*pay) not in everything
    assert read_log(client, "STREAM", f"order-{placed}")[0]["payload"]["lines"][0]["sealedNote"] == sealed


def test_a_destroyed_key_is_in_no_file_but_the_write_ahead_log(data_dir):
    def files_with(key):
        """The folders of PostgreSQL that have a quarter of the key, or more, in one of their files."""
        parts = [key[start:start + 16] for start in range(0, 64, 16)]
        files = [path for path in Path(data_dir).rglob("*") if path.is_file()]
        found = [file for file in files if any(part in data for data in [file.read_bytes()] for part in parts)]
        return {folder for file in found for folder in ("base", "global", "pg_wal", "pg_stat") if folder in file.parts}

    assert run_tiffin("migrate", "--partitions", 8, "--data-dir", data_dir).returncode == 0
    with Server(data_dir=data_dir) as server, server.client() as client:
        open_kitchen(client)
        for customer in ("ben", "asha"):
            for number in range(20):
                client("CART.ADD", f"{customer}-{number}", "kitchen", "tea", 1, "CUSTOMER", customer)
        address = running_database(data_dir)
        keys = {
            customer: [bytes.fromhex(key) for key in sql(
                f"select encode(key, 'hex') from tiffin.customer_keys where customer = '{customer}'",
                address).splitlines()]
            for customer in ("ben", "asha")
        }
        sql("checkpoint", address)
        assert {"base", "pg_wal"} <= files_with(keys["asha"][0])
        forget("asha", "--data-dir", data_dir)
        sql("checkpoint", address)
        assert set.union(*map(files_with, keys["asha"])) <= {"pg_wal"}
        assert "base" in files_with(keys["ben"][0])


def running_database(data_dir):
    """The address of the private PostgreSQL of a server that runs."""
    folder = next(Path(data_dir).rglob("postmaster.pid")).read_text().splitlines()[4]
    return f"postgres:///tiffin?host={folder}&user=tiffin"


def test_digests_receipts_and_audits_hold_as_before(served):
    server, client = served
    database = server.arguments[-1]
    placed = order(client)
    before = client.json("LOG.HEAD")
    prove = [("LOG.PROVE", stream, 1, "HEAD", before[0]["position"], "FORM", "links")
             for stream in ("cart-c", f"order-{placed}")]
    receipts = [client(*words) for words in prove]
    forget("asha", "--database", database)
    # What was done is the next event, and nothing before it has changed.
    wait_until(lambda: client.json("LOG.HEAD")[0]["position"] == before[0]["position"] + 1, "the server to follow")
    assert [client(*words) for words in prove] == receipts
    for receipt in receipts:
        run = subprocess.run(
            [binary(), "verify", "-", "--head", before[0]["digest"]], input=receipt, capture_output=True, timeout=PATIENCE_SECONDS)
        assert run.returncode == 0, run
        assert "sealedNote" in json.loads(receipt)["event"]["payload"]
    for _ in range(2):
        run = run_tiffin("audit", "--database", database, "--server", f"127.0.0.1:{server.port}")
        assert run.returncode == 0 and run.stdout.splitlines()[-1].startswith("sound"), run


@pytest.mark.parametrize("source", ["server", "database"])
def test_histories_show_texts_to_those_who_may_read_them(served, source):
    server, client = served
    database = server.arguments[-1]
    placed = order(client)
    options = ("--server", f"127.0.0.1:{server.port}") if source == "server" else ("--database", database)

    def why(*words):
        run = run_tiffin("why", *words)
        assert (run.returncode, run.stderr) == (0, ""), run
        return run.stdout

    for text, name in ((NOTE, NAME), (ERASED, ERASED)):
        cart = why("cart", "c", *options)
        assert f'added 2 × Tea at 1.00 LKR, note "{text}", from outlet kitchen, for customer asha — tap' in cart
        assert f'for 2.00 LKR, under the name "{name}" — pay' in cart
        assert f'  2 × Tea at 1.00 LKR = 2.00 LKR, note "{text}", from v1' in cart
        story = why("order", placed, *options)
        assert f'agreed under the name "{name}":\n  2 × Tea at 1.00 LKR = 2.00 LKR, note "{text}"' in story
        if text == NOTE:
            forget("asha", "--database", database)


def test_a_user_without_the_right_to_keys_sees_that_texts_are_sealed(served):
    server, client = served
    database = server.arguments[-1]
    order(client)
    role = f"reader_{database.rpartition('_')[2].partition('?')[0]}"
    sql(f"create role {role} login; grant tiffin_auditor to {role}", database)
    try:
        address = database.replace("postgres@", f"{role}@")
        run = run_tiffin("why", "cart", "c", "--database", address)
        assert run.returncode == 0 and 'note "[sealed]"' in run.stdout and 'under the name "[sealed]"' in run.stdout, run
        assert run_tiffin("audit", "--database", address).returncode == 0
        run = run_tiffin("forget", "asha", "--database", address)
        assert run.returncode == 1 and "permission denied for table customer_keys" in run.stderr, run
    finally:
        sql(f"drop owned by {role}; drop role {role}", database)


def test_a_text_that_its_key_does_not_open_is_damaged(served):
    server, client = served
    placed = order(client)
    sql("update tiffin.customer_keys set key = decode(repeat('00', 64), 'hex')", server.arguments[-1])
    assert shown(client, placed) == {"[damaged]"}
    sql("delete from tiffin.customer_keys", server.arguments[-1])
    assert shown(client, placed) == {"[sealed]"}


# --- taking texts


def test_a_command_that_is_refused_creates_no_key(served):
    server, client = served
    client("CART.ADD", "hers", "kitchen", "tea", 1, "CUSTOMER", "asha")
    refused = 0
    for number, words in enumerate([
        ("CART.ADD", "c", "nowhere", "tea", 1), ("CART.ADD", "c", "kitchen", "nothing", 1),
        ("CART.ADD", "c", "kitchen", "tea", 100), ("CART.ADD", "c", "kitchen", "tea", 1, "VERSION", 7),
        ("CART.ADD", "hers", "kitchen", "tea", 1), ("CART.CHECKOUT", "hers", "TOTAL", 100),
        ("CART.CHECKOUT", "c", "TOTAL", 100),
    ]):
        for text in ((), ("NOTE", NOTE)) if words[0] == "CART.ADD" else ((), ("NAME", NAME)):
            client.error(*words, *text, "CUSTOMER", f"nobody-{number}")
            refused += 1
    assert refused == 14
    assert sql("select customer from tiffin.customer_keys", server.arguments[-1]) == "asha"
    client("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", NOTE, "CUSTOMER", "nobody-1", "ID", "one")
    assert client("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", NOTE, "CUSTOMER", "nobody-1", "ID", "one") == 1
    assert note(client, "c") == NOTE


def test_the_same_note_is_one_line_and_a_call_sent_again_is_the_same_call(served):
    _, client = served
    add = ("CART.ADD", "c", "kitchen", "tea", 1, "CUSTOMER", "asha")
    assert client(*add, "NOTE", NOTE, "ID", "one") == 1
    assert client(*add, "NOTE", NOTE, "ID", "one") == 1
    assert client(*add, "NOTE", NOTE) == 2
    assert client(*add, "NOTE", "another") == 3
    assert client(*add) == 4
    assert client.error(*add, "NOTE", "another", "ID", "one").code == "IDMISMATCH"
    lines = client.json("CART.GET", "c")["lines"]
    assert [(line["line"], line["quantity"], line["note"]) for line in lines] == [
        ("tea", 2, NOTE), ("tea~2", 1, "another"), ("tea~3", 1, None)]


def test_errors_for_a_wrong_or_missing_customer(served):
    _, client = served
    client("CART.ADD", "hers", "kitchen", "tea", 1, "CUSTOMER", "asha")
    client("CART.ADD", "open", "kitchen", "tea", 1, "NOTE", "read me")
    for words, code, part in [
        (("CART.ADD", "hers", "kitchen", "tea", 1, "CUSTOMER", "ben"), "STATE", "another customer"),
        (("CART.ADD", "hers", "kitchen", "tea", 1, "NOTE", "x"), "INVALID", "has to be named"),
        (("CART.ADD", "open", "kitchen", "tea", 1, "CUSTOMER", "asha"), "STATE", "never be forgotten"),
        (("CART.CHECKOUT", "open", "TOTAL", 100, "CUSTOMER", "asha"), "STATE", "never be forgotten"),
        (("CART.CHECKOUT", "hers", "TOTAL", 100, "NAME", "x"), "INVALID", "needs CUSTOMER"),
        (("CART.ADD", "new", "kitchen", "tea", 1, "CUSTOMER", "no id"), "INVALID", "CUSTOMER"),
        (("CART.ADD", "new", "kitchen", "tea", 1, "CUSTOMER", "asha", "NOTE", ""), "INVALID", "NOTE"),
        (("CART.ADD", "new", "kitchen", "tea", 1, "CUSTOMER", "asha", "NOTE", "x" * 501), "INVALID", "NOTE"),
        (("CART.CHECKOUT", "hers", "TOTAL", 100, "CUSTOMER", "asha", "NAME", "x" * 201), "INVALID", "NAME"),
        (("CART.ADD", "new", "kitchen", "tea", 1, "CUSTOMER"), "ERR", "syntax"),
    ]:
        reply = client.error(*words)
        assert reply.code == code and part in str(reply), (words, reply)
    assert client("CART.ADD", "new", "kitchen", "tea", 1, "CUSTOMER", "asha", "NOTE", "x" * 500) == 1
    client("CART.CLEAR", "hers")
    assert client("CART.ADD", "hers", "kitchen", "tea", 1, "CUSTOMER", "ben", "NOTE", "his now") == 1
    assert client.json("CART.GET", "hers")["customer"] == "ben"


def test_commands_keep_their_order_while_a_key_is_waited_for(served):
    _, client = served
    commands, expected = [], []
    for number in range(50):
        cart, customer = f"c{number}", f"customer-{number}"
        commands += [
            ("CART.ADD", cart, "kitchen", "bun", 1),
            ("CART.ADD", cart, "kitchen", "tea", 1, "NOTE", "x", "CUSTOMER", customer), ("CART.COUNT", cart),
            ("CART.ADD", cart, "kitchen", "tea", 1), ("CART.SET", cart, "tea", 5), ("CART.COUNT", cart),
        ]
        expected += [1, 2, 2, 3, 7, 7]
    client.send(b"".join(encode(*command) for command in commands))
    assert [client.read() for _ in commands] == expected
    lines = client.json("CART.GET", "c7")["lines"]
    assert [(line["line"], line["note"]) for line in lines] == [("bun", None), ("tea", "x"), ("tea~2", None)]


def test_a_key_that_is_not_available_in_time_keeps_nobody_waiting(served):
    server, client = served
    database = server.arguments[-1]
    client("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", "x", "CUSTOMER", "asha")
    with open_transaction(database, "lock table tiffin.customer_keys"), server.client() as other:
        client.send(encode("CART.ADD", "d", "kitchen", "tea", 1, "CUSTOMER", "asha") + encode("CART.COUNT", "d"))
        assert other("CART.ADD", "e", "kitchen", "tea", 1) == 1
        assert other.error("CART.GET", "c").code == "UNAVAILABLE"
        assert client.read().code == "UNAVAILABLE"
        assert client.read() == 0
    assert client("CART.ADD", "d", "kitchen", "tea", 1, "CUSTOMER", "asha") == 1
    assert note(client, "c") == "x"


def test_subscribers_of_a_cart_are_sent_its_texts_until_they_are_erased(served):
    server, client = served
    with server.client(protocol=3) as listener:
        listener.send(encode("SUBSCRIBE", "cart:c"))
        listener.read(), listener.read()

        def told():
            return json.loads(listener.read().items[2])

        client("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", NOTE, "CUSTOMER", "asha")
        assert NOTE in json.dumps(told())
        forget("asha", "--database", server.arguments[-1])
        client("CART.SET", "c", "tea", 2)
        message = json.dumps(told())
        assert ERASED in message and NOTE not in message


# --- the command


def test_an_invalid_customer_is_an_error_in_one_line(database):
    for words, status, message in [
        ((), 64, "name a customer"), (("no id",), 64, "name a customer"), (("a", "no id"), 64, "name a customer"),
        (("asha", "--database", "postgres:///none?host=/nonexistent"), 1, "tiffin forget:"),
        (("asha", "--database", database), 1, "tiffin migrate"),
    ]:
        run = run_tiffin("forget", *words)
        assert run.returncode == status and message in run.stderr, (words, run)
        assert len(run.stderr.splitlines()) == 1 and not run.stdout
    assert "usage: tiffin forget <customer>… [options]" in run_tiffin("forget", "--help").stdout


def test_an_old_transaction_that_still_sees_the_key_is_reported(served):
    server, client = served
    database = server.arguments[-1]
    client("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", NOTE, "CUSTOMER", "asha")
    with open_transaction(database, "set transaction isolation level repeatable read; select 1"):
        said = forget("asha", "--database", database)
        assert "may still have the old bytes: a transaction that began before has not ended" in said
        assert note(client, "c") == ERASED
    assert "without the old bytes" in forget("asha", "--database", database)
