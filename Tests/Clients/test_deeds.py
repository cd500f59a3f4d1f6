"""What is done beside the log is in the log, too: customers forgotten, users and relays; and an audit compares both."""

import json

import pytest

from test_users import PASSWORD, log_in, user
from tiffin import Server, fresh_database, item_document, put_open_outlet, read_log, run_tiffin, section_document, sql

DIFFERENCE = 1


@pytest.fixture(scope="module", params=[1, 4], ids=["one partition", "four partitions"])
def origin(request):
    """A database to which each kind of deed was done, with nobody connected."""
    with fresh_database() as url:
        assert run_tiffin("migrate", "--partitions", request.param, "--database", url).returncode == 0
        user(url, "add", "root", "--role", "admin", password=PASSWORD)
        user(url, "add", "cook", "--role", "merchant", "--only", "kitchen", "--no-password")
        user(url, "add", "gone", "--role", "auditor", "--no-password")
        with Server(database=url) as server, log_in(server.port, "root") as root:
            put_open_outlet(root, "kitchen", [section_document("all", [item_document("tea", 100)])], minimumOrder=0)
            for customer in ("asha", "ben"):
                for note in ("no sugar", "hot"):
                    root("CART.ADD", f"{customer}-1", "kitchen", "tea", 1, "NOTE", note, "CUSTOMER", customer)
            root("CUSTOMER.FORGET", "asha", "nobody")
            root("CUSTOMER.FORGET", "asha")
        user(url, "token", "cook")
        user(url, "grant", "cook", "--only", "kitchen", "--only", "bakery")
        user(url, "disable", "cook")
        user(url, "password", "root", password="another horse")
        user(url, "remove", "gone")
        run = run_tiffin("relay", "--show-secret", "--name", "till", "--database", url)
        assert run.returncode == 0, run
        yield url


@pytest.fixture
def done(origin):
    """A copy of it."""
    with fresh_database(origin) as url:
        yield url


def events(url, stream):
    """The events of a stream: kind, payload and metadata."""
    rows = sql(f"select kind, payload, metadata from tiffin.events_of('{stream}') order by version", url).splitlines()
    return [(kind, json.loads(payload), json.loads(metadata)) for kind, payload, metadata in (
        row.split("|") for row in rows)]


def audit(url):
    run = run_tiffin("audit", "--database", url)
    return run.returncode, run.stdout


def test_what_is_done_beside_the_log_is_recorded_with_who_did_it_and_no_secret(done):
    forgotten, = events(done, "customer-asha")
    assert forgotten == ("customer.forgotten", {}, {"actor": "root", "claim": None})
    assert events(done, "customer-nobody") == [forgotten]
    assert events(done, "customer-ben") == []
    puts = events(done, "user-cook")
    assert [(kind, payload["change"]) for kind, payload, _ in puts] == [
        ("user.put", "added"), ("user.put", "token added"), ("user.put", "grants"), ("user.put", "disabled")]
    assert puts[-1][1] == {
        "role": "merchant", "only": ["kitchen", "bakery"], "enabled": False, "change": "disabled"}
    # At the command line nobody has logged in: the account is only what it says.
    assert all(list(metadata) == ["actor"] for _, _, metadata in puts)
    assert [kind for kind, _, _ in events(done, "user-gone")] == ["user.put", "user.removed"]
    assert [payload["change"] for _, payload, _ in events(done, "user-root")] == ["added", "password"]
    assert [kind for kind, _, _ in events(done, "relay-till")] == ["relay.put"]
    everything = sql("select string_agg(events, '') from tiffin.batches", done)
    for secret in sql(
            "select password from tiffin.users where password is not null union all select encode(t, 'hex') "
            "from tiffin.users, unnest(tokens) as t union all select encode(secret, 'base64') from tiffin.relays "
            "union all select encode(secret, 'hex') from tiffin.relays", done).splitlines():
        assert len(secret) > 20 and secret not in everything and secret.rpartition("$")[2] not in everything
    assert audit(done)[0] == 0


def test_histories_and_the_log_show_what_was_done(done):
    for words, shown in (
        (("customer", "asha"), "forgotten — by root"), (("user", "gone"), "removed — by "),
        (("user", "cook"), "merchant only kitchen bakery, disabled; changed: disabled — by "),
        (("relay", "till"), "made — by "),
    ):
        run = run_tiffin("why", *words, "--database", done)
        assert run.returncode == 0 and shown in run.stdout, run
    run = run_tiffin("why", "user", "nobody", "--database", done)
    assert run.returncode == 1 and "the log has nothing about user 'nobody'" in run.stderr, run
    assert "customer.forgotten" in run_tiffin("log", "--database", done).stdout
    with Server(database=done) as server, log_in(server.port, "root", "another horse") as root:
        event, = read_log(root, "STREAM", "customer-asha")
        assert (event["kind"], event["payload"], event["version"]) == ("customer.forgotten", {}, 1)


KEYLESS = "has something sealed in cart-{0}-1, and tiffin.customer_keys has no key to open it"


def test_an_audit_misses_keys(done):
    sql("delete from tiffin.customer_keys where customer in ('asha', 'ben')", done)
    code, said = audit(done)
    assert code == DIFFERENCE and "customer-asha was forgotten, and tiffin.customer_keys says so in 0 of " in said, said
    assert all(f"customer-{name} {KEYLESS.format(name)}" in said for name in ("asha", "ben")), said
    assert said.splitlines()[-1].startswith("DIFFERENT: 3 "), said


def test_an_audit_finds_a_key_that_was_made_again(done):
    sql("delete from tiffin.customer_keys where customer = 'ben'", done)
    with Server(database=done) as server, log_in(server.port, "root", "another horse") as root:
        root("CART.ADD", "ben-1", "kitchen", "tea", 1, "NOTE", "in a glass", "CUSTOMER", "ben")
        assert [line["note"] for line in root.json("CART.GET", "ben-1")["lines"]] == ["[damaged]"] * 2 + ["in a glass"]
    code, said = audit(done)
    assert code == DIFFERENCE and said.splitlines()[-1].startswith("DIFFERENT: 1 "), said
    assert ("customer-ben has something sealed in cart-ben-1, and the key in tiffin.customer_keys does not open it: "
            "it is another one") in said


def test_an_audit_misses_the_key_of_what_is_on_an_order_alone(done):
    with Server(database=done) as server, log_in(server.port, "root", "another horse") as root:
        root("CART.ADD", "eve-1", "kitchen", "tea", 1, "CUSTOMER", "eve")
        order = root("CART.CHECKOUT", "eve-1", "TOTAL", 100, "CUSTOMER", "eve").decode()
        root("ORDER.CANCEL", order, "BY", "merchant", "CODE", "OTHER", "REASON", "no more tea")
    assert audit(done)[0] == 0
    sql("delete from tiffin.customer_keys where customer = 'eve'", done)
    code, said = audit(done)
    assert code == DIFFERENCE, said
    assert f"customer-eve has something sealed in order-{order}, and tiffin.customer_keys has no key to open it" in said


@pytest.mark.parametrize("alteration, found", [
    ("delete from tiffin.customer_keys where customer = 'ben'", f"customer-ben {KEYLESS.format('ben')}"),
    ("insert into tiffin.customer_keys select partition, 'dora', null, now(), now() from tiffin.log_head",
     "customer-dora is forgotten by tiffin.customer_keys, and not by the log"),
    ("insert into tiffin.users (name, role, created_at, revision) values ('eve', 'admin', now(), 0)",
     "user-eve is admin by tiffin.users, and not there by the log"),
    ("update tiffin.users set role = 'admin', grants = '{}' where name = 'cook'",
     "user-cook is admin, disabled by tiffin.users, and merchant only kitchen bakery, disabled by the log"),
    ("update tiffin.users set enabled = true where name = 'cook'",
     "user-cook is merchant only kitchen bakery by tiffin.users, and merchant only kitchen bakery, disabled by the log"),
    ("update tiffin.users set removed_at = null where name = 'gone'",
     "user-gone is auditor, disabled by tiffin.users, and not there by the log"),
    ("delete from tiffin.users where name = 'root'", "user-root was put, and is not in tiffin.users"),
    ("update tiffin.customer_keys set key = decode(repeat('ab', 64), 'hex'), created_at = now() + interval '2 hours' "
     "where customer = 'ben'", "customer-ben has something sealed in cart-ben-1, and "),
    ("delete from tiffin.relays", "relay-till was put, and is not in tiffin.relays"),
    ("delete from tiffin.relay_cursors where partition = 0", "relay-till has no place in 1 of "),
    ("insert into tiffin.relays (name, secret) values ('spy', 'x')",
     "relay-spy is in tiffin.relays, and not there by the log"),
])
def test_an_audit_finds_what_was_done_past_the_log(done, alteration, found):
    sql(alteration, done)
    auditor = f"auditor_{done.rpartition('_')[2].partition('?')[0]}"
    sql(f"create role {auditor} login; grant tiffin_auditor to {auditor}", done)
    try:
        for url in (done, done.replace("postgres@", f"{auditor}@")):
            code, said = audit(url)
            assert code == DIFFERENCE and found in said and said.splitlines()[-1].startswith("DIFFERENT: 1 "), said
    finally:
        sql(f"drop owned by {auditor}; drop role {auditor}", done)


def test_a_change_that_cannot_be_recorded_is_not_made(done):
    # As if the head were damaged: nothing can be appended.
    sql("delete from tiffin.log_head", done)
    before = sql("select * from tiffin.users order by name", done)
    for words in (("user", "enable", "cook"), ("forget", "ben"), ("relay", "--show-secret", "--name", "spy")):
        run = run_tiffin(*words, "--database", done)
        assert run.returncode == 1 and "the log has no partition" in run.stderr, run
    assert sql("select * from tiffin.users order by name", done) == before
    assert sql("select count(*) from tiffin.relays where name = 'spy'", done) == "0"


def test_a_change_that_is_refused_leaves_nothing_in_the_log(done):
    before = sql("select sum(position) from tiffin.log_head", done)
    user(done, "add", "root", "--role", "admin", "--no-password", code=1)
    user(done, "remove", "nobody", code=1)
    assert run_tiffin("forget", "asha", "--database", done).returncode == 0
    assert run_tiffin("relay", "--show-secret", "--name", "till", "--database", done).returncode == 0
    assert sql("select sum(position) from tiffin.log_head", done) == before


def test_servers_go_on_while_things_are_done_beside_them(done):
    """Each deed is an append by another writer, whose batches servers read and continue from."""
    with Server(database=done) as server, log_in(server.port, "root", "another horse") as root:
        for number in range(20):
            assert root("CART.ADD", f"c{number}", "kitchen", "tea", 1) == 1
            user(done, "enable" if number % 2 else "disable", "cook")
            assert root("CART.ADD", f"c{number}", "kitchen", "tea", 1) == 2
        assert len(read_log(root, "STREAM", "user-cook")) == 4 + 20
    assert audit(done)[0] == 0


def test_what_was_done_before_it_was_recorded_is_recorded_by_the_migration(done):
    sql("delete from tiffin.migrations where name = 'deeds'", done)
    sql("insert into tiffin.users (name, role, created_at, revision) values ('old', 'admin', now(), 0); "
        "insert into tiffin.customer_keys select partition, 'dora', null, now(), now() from tiffin.log_head", done)
    assert run_tiffin("migrate", "--database", done).returncode == 0
    assert events(done, "user-old") == [(
        "user.put", {"role": "admin", "only": [], "enabled": True, "change": "migrated"}, {"actor": "tiffin"})]
    assert events(done, "customer-dora") == [("customer.forgotten", {}, {"actor": "tiffin"})]
    assert audit(done)[0] == 0
