"""Values that no server writes, in every column of the log: the server stays up, says what is wrong, and answers
everything else. Many carts are damaged at once, each in its own way, so that few servers are started."""

import json

import pytest
from redis.crc import key_slot

import schemas
from tampering import forge, tamper
from test_damage import MENU, added, delete_saved_rows, fill, missing_events, position_of, quoted
from tiffin import ReplyError, Server, put_open_outlet, read_log, run_tiffin, sql, wait_until

BEYOND = 2**63 - 1
# What a command on something damaged may answer instead of the correct reply.
DOCUMENTED = {"CORRUPT", "UNAVAILABLE"}

TEXTS = ["", "{", "null", "[" * 600, '{"quantity":9223372036854775807}', '{"quantity":1e999999999}']
TIMES = ["infinity", "-infinity", "294276-12-31", "4713-01-01 BC", "10000-01-01"]
EVENTS = {
    "partition": [32767, -1, -32768],
    "position": [BEYOND, BEYOND - 1, 2**62 + 1, 0, -1, -2**63],
    "stream": ["", "cart-", "nobody", "x" * 2_000, "cart-\u00e9", "menu-nowhere", "order-x"],
    "version": [BEYOND, 2**62, 2**31, 2**31 - 1, 0, -1, -2**63],
    "kind": ["", "cart.eaten", "cart.itemAdded ", "menu.sectionRemoved", "x" * 2_000],
    "schema_version": [2**31 - 1, 0, -1, -2**31],
    "payload": TEXTS,
    "metadata": TEXTS,
    "recorded_at": TIMES,
}
COMMITS = {
    "partition": [32767, -1],
    "first_position": [BEYOND, 2**62 + 1, 0, -1, -2**63],
    "last_position": [BEYOND, 2**62 + 1, 0, -1, -2**63],
    "content_digest": ["", "x", "x" * 33],
    "chain_digest": ["", "x", "x" * 33],
    "submitted_digest": ["", "x" * 32],
    "recorded_at": TIMES,
}


def cases(columns):
    return [(column, value) for column, values in columns.items() for value in values]


def literal(value, column=""):
    if column.endswith("digest"):
        return f"convert_to({quoted(value)}, 'UTF8')"
    return quoted(value) if isinstance(value, str) else str(value)


def ask(client, *command, also=()):
    """The reply, or the code of an error, which must be a documented one."""
    [reply] = client.pipeline([command])
    if isinstance(reply, ReplyError):
        assert reply.code in DOCUMENTED | set(also), (command, reply)
        return reply.code
    return reply


def check_tools(database, finds_damage):
    """`log` prints what there is. A replay ends with 1 where a stream that it folds is damaged."""
    replayed = 1 if finds_damage else 0
    for command, status in ((["log"], 0), (["replay", "cart_counts"], replayed), (["replay", "--all"], replayed)):
        ended = run_tiffin(*command, "--database", database)
        assert ended.returncode == status, (command, ended.returncode, ended.stderr)


def check_well(client, count):
    assert client("CART.COUNT", "well") == count
    assert client("CART.ADD", "well", "kitchen", "tea", 1) == count + 1
    assert client.json("CART.GET", "well")["version"] == count + 1
    assert client.json("OUTLET.HOME", "kitchen")["outlet"]["id"] == "kitchen"
    assert client("PING") == "PONG"


def test_no_value_in_an_event_ends_the_server(database):
    damages = cases(EVENTS)
    with Server(database=database) as server, server.client() as client:
        fill(client)
        for number in range(len(damages)):
            client.pipeline([("CART.ADD", f"hurt-{number}", "kitchen", "tea", 1)] * 3)
    tamper(";".join(
        f"update tiffin.events set {column} = {literal(value)} where stream = 'cart-hurt-{number}' and version = 2"
        for number, (column, value) in enumerate(damages)), database)
    sql("truncate tiffin.projection_checkpoints, tiffin.outlet_home_rows, tiffin.cart_count_rows, tiffin.quarantine",
        database)
    for turn in range(2):
        with Server(database=database) as server, server.client() as client:
            client.on_reply = schemas.unchecked
            check_well(client, 3 + turn)
            for number, (column, value) in enumerate(damages):
                cart = f"hurt-{number}"
                answers = [
                    ask(client, *command) for command in (
                        ("CART.GET", cart), ("CART.COUNT", cart), ("CART.ADD", cart, "kitchen", "tea", 1))
                ]
                # Schema versions that never existed, and unknown keys of metadata.
                harmless = column == "schema_version" or column == "metadata" and value.startswith('{"')
                assert harmless or "CORRUPT" in answers, (column, str(value)[:50], answers)
                ask(client, "LOG.READ", "STREAM", f"cart-{cart}")
                for version in (1, 2, 3):
                    ask(client, "LOG.PROVE", f"cart-{cart}", version, also=["NOTFOUND"])
            position = 1
            while events := client("LOG.READ", "FROM", position, "COUNT", 100):
                position = json.loads(events[-1])["position"] + 1
            output = server.output()
            assert f"a row at the impossible position {BEYOND}" in output
            assert "recorded outside the years 1 to 9999" in output
    check_tools(database, finds_damage=True)


def test_no_value_in_a_commit_ends_the_server(database):
    damages = cases(COMMITS)
    with Server(database=database) as server, server.client() as client:
        fill(client)
        for number in range(len(damages)):
            client("CART.ADD", f"c-{number}", "kitchen", "tea", 1)
            client("CART.ADD", f"c-{number}", "kitchen", "tea", 1)
        sql(";".join(
            f"update tiffin.commits set {column} = {literal(value, column)} where first_position = "
            f"(select position from tiffin.events where stream = 'cart-c-{number}' and version = 1)"
            for number, (column, value) in enumerate(damages)), database)
        check_well(client, 3)
    with Server(database=database) as server, server.client() as client:
        check_well(client, 4)
        for number, (column, value) in enumerate(damages):
            answers = [
                ask(client, *command) for command in (
                    ("CART.GET", f"c-{number}"), ("CART.COUNT", f"c-{number}"),
                    ("CART.ADD", f"c-{number}", "kitchen", "tea", 1))
            ]
            # Nothing but an audit and a receipt looks at digests.
            assert answers[1:] == [2, 3] or not column.endswith("digest") and "CORRUPT" in answers, (
                column, value, answers)
            for version in (1, 2, 3):
                ask(client, "LOG.PROVE", f"cart-c-{number}", version, also=["NOTFOUND"])
    check_tools(database, finds_damage=False)


HEADS = {
    "position": [BEYOND, BEYOND - 1, 2**62 + 1, 0, 1, -1, -2**63],
    "digest": ["", "x", "x" * 33],
    "epoch": [BEYOND, -2**63, 17],
}


def carts_of(partition, count):
    """Names of carts that belong to a partition."""
    found = (f"p{n}" for n in range(10_000))
    return next(name for name in found if key_slot(name.encode()) * count // 16_384 == partition)


def test_no_value_in_a_head_ends_the_server(database):
    damages = cases(HEADS)
    count = len(damages) + 1
    assert run_tiffin("migrate", "--partitions", count, "--database", database).returncode == 0
    carts = [carts_of(partition, count) for partition in range(count)]
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        for cart in carts:
            client.pipeline([("CART.ADD", cart, "kitchen", "tea", 1)] * 3)
    server = Server(database=database)

    def damage():
        sql(";".join(
            f"update tiffin.log_head set {column} = {literal(value, column)} where partition = {partition}"
            for partition, (column, value) in enumerate(damages)), database)

    for start in ("running", "at start"):
        if start == "at start":
            damage()
        with server, server.client() as client:
            if start == "running":
                damage()
            for partition, cart in enumerate(carts):
                before = client("CART.COUNT", cart)
                answer = ask(client, "CART.ADD", cart, "kitchen", "tea", 1)
                assert answer == before + 1, (start, damages[partition:partition + 1], answer)
                assert client.json("CART.GET", cart)["version"] == before + 1
                ask(client, "LOG.PROVE", f"cart-{cart}", 1)
                ask(client, "CART.GET", cart, "AT", "2026-01-01T00:00:00Z")
            ask(client, "LOG.HEAD")
            if start == "at start":
                server.wait_for_output(f"the head of partition 0 has the impossible position {BEYOND}")
    check_tools(database, finds_damage=False)


def test_a_log_without_a_head_is_not_served_and_says_so(database):
    assert run_tiffin("migrate", "--partitions", 2, "--database", database).returncode == 0
    carts = [carts_of(partition, 2) for partition in range(2)]
    server = Server(database=database)
    with server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        for cart in carts:
            client("CART.ADD", cart, "kitchen", "tea", 1)
        # While it runs.
        sql("create table kept as select * from tiffin.log_head; delete from tiffin.log_head where partition = 1", database)
        assert client.error("CART.ADD", carts[1], "kitchen", "tea", 1).code == "UNAVAILABLE"
        assert client("CART.ADD", carts[0], "kitchen", "tea", 1) == 2
        assert client.error("LOG.HEAD").code == "UNAVAILABLE"
        assert client("CART.COUNT", carts[1]) == 1
    for lost, sentence in (
        ("partition = 1", "it has no row for partition 1"),
        ("partition = 0", "it has no row for partition 0"),
        ("true", "it has no row for partition 0"),
    ):
        sql("delete from tiffin.log_head; insert into tiffin.log_head select * from kept", database)
        sql(f"delete from tiffin.log_head where {lost}", database)
        server.launch()
        assert server.wait_until_ended() == 1
        server.wait_for_output(f"tiffin.log_head is damaged: {sentence}")
    sql("delete from tiffin.log_head; insert into tiffin.log_head select * from kept", database)


def test_a_head_that_no_partition_has_is_passed_over(database):
    server = Server(database=database)
    with server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        client("CART.ADD", "cart-1", "kitchen", "tea", 1)
    sql("insert into tiffin.log_head values (1, 0, decode(repeat('00', 32), 'hex')), (-1, 7, '')", database)
    with server, server.client() as client:
        assert client("CART.COUNT", "cart-1") == 1
        assert client("CART.ADD", "cart-1", "kitchen", "tea", 1) == 2
    run = run_tiffin("audit", "--database", database)
    assert run.returncode == 2
    assert "log_head has a row of partition 1, in a log of 1 partition" in run.stdout


# --- lines of batches

# What somebody may make of the text of a batch of one event, as SQL.
LINES = {
    "a field too few": r"regexp_replace(events, E'\t[^\t]*$', '')",
    "a field too many": r"events || E'\tmore'",
    "no separator": "split_part(events, E'\\t', 1)",
    "a version that is no number": r"replace(events, E'\t2\t', E'\ttwo\t')",
    "a version without an end": r"replace(events, E'\t2\t', E'\t2' || repeat('0', 2000) || E'\t')",
    "a version that is written otherwise": r"replace(events, E'\t2\t', E'\t02\t')",
    "a version left out": r"replace(events, E'\t2\t', E'\t\t')",
    "a schema version that is no number": r"replace(events, E'\t2\t{', E'\ttwo\t{')",
    "a schema version that is too high": r"replace(events, E'\t2\t{', E'\t2147483648\t{')",
    "no name": r"regexp_replace(events, E'^[^\t]*', '')",
    "tabs alone": r"E'\t\t\t\t\t'",
    "many tabs": r"repeat(E'\t', 10000)",
    "nothing": "''",
    "an empty line in front": r"E'\n' || events",
    "a line more": r"events || E'\n' || events",
    "many lines": r"repeat(E'\n', 10000)",
}


def test_no_line_of_a_batch_ends_the_server(database):
    with Server(database=database) as server, server.client() as client:
        fill(client)
        for number in range(len(LINES)):
            for _ in range(3):
                client("CART.ADD", f"hurt-{number}", "kitchen", "tea", 1)
    sql(";".join(
        f"update tiffin.batches set events = {expression} where first_position = "
        f"{position_of(database, f'cart-hurt-{number}', 2)}"
        for number, expression in enumerate(LINES.values())), database)
    for turn in range(3):
        with Server(database=database) as server, server.client() as client:
            client.on_reply = schemas.unchecked
            check_well(client, 3 + turn)
            for number, what in enumerate(LINES):
                cart = f"hurt-{number}"
                answers = [
                    ask(client, *command) for command in (
                        ("CART.GET", cart), ("CART.COUNT", cart), ("CART.ADD", cart, "kitchen", "tea", 1))
                ]
                # Saved counts are those of before the damage.
                assert turn == 0 or "CORRUPT" in answers[1:], (what, answers)
                ask(client, "LOG.READ", "STREAM", f"cart-{cart}")
                for version in (1, 2, 3):
                    ask(client, "LOG.PROVE", f"cart-{cart}", version, also=["NOTFOUND"])
            assert len(read_log(client, page=1)) == len(read_log(client))
        # The rows that were saved are those of before the damage.
        check_tools(database, finds_damage=turn > 0)
        sql("truncate tiffin.projection_checkpoints, tiffin.outlet_home_rows, tiffin.cart_count_rows, tiffin.quarantine",
            database)
    assert int(sql("select count(*) from tiffin.events where stream like 'cart-hurt-%'", database)) >= 2 * len(LINES)


def test_batches_without_events_do_not_end_a_read(database):
    with Server(database=database) as server, server.client() as client:
        fill(client)
        for _ in range(30):
            client("CART.ADD", "short", "kitchen", "tea", 1)
        client("CART.ADD", "late", "kitchen", "tea", 1)
        first, last = position_of(database, "cart-short", 4), position_of(database, "cart-short", 33)
        for damage in ("events = ''", "last_position = 0", "last_position = 4611686018427387905"):
            sql(f"update tiffin.batches set {damage} where first_position between {first} and {last}", database)
            for count in (1, 7, 30, 1000):
                events = read_log(client, page=count)
                assert [event["position"] for event in events] == [*range(1, first), last + 1], (damage, count)
    delete_saved_rows(database)
    with Server(database=database) as server, server.client() as client:
        assert missing_events(client) == last - first + 1
        assert client("CART.COUNT", "late") == 1
        check_well(client, 3)


# --- derived rows


def wait_until_indexed(database):
    wait_until(
        lambda: sql("select first_position = (select max(first_position) from tiffin.batches) from tiffin.stream_index "
                    "where stream is null", database) == "t", "the index of streams")


# What somebody may do to the index of streams.
INDEXES = {
    "emptied": "truncate tiffin.stream_index",
    "without its end": "delete from tiffin.stream_index where stream is null",
    "with its end before the log": "update tiffin.stream_index set first_position = -1 where stream is null",
    "with its end in the log": "update tiffin.stream_index set first_position = 5 where stream is null",
    "with its end in no batch": (
        "update tiffin.stream_index set first_position = first_position + 1000 where stream is null"),
    "with its end beyond every position": (
        "update tiffin.stream_index set first_position = 9223372036854775807 where stream is null"),
    "with many ends": (
        "insert into tiffin.stream_index select 0, null, n from generate_series(-1, 1000) n"),
    "with every row twice": "insert into tiffin.stream_index table tiffin.stream_index",
    "with rows that lead nowhere": (
        "insert into tiffin.stream_index select partition, stream, -first_position from tiffin.stream_index;"
        "insert into tiffin.stream_index select partition, stream, first_position + 4611686018427387905 "
        "from tiffin.stream_index where first_position > 0 and stream is not null"),
    "with rows that lead everywhere": (
        "insert into tiffin.stream_index select distinct i.partition, i.stream, b.first_position "
        "from tiffin.stream_index i, tiffin.batches b where i.stream is not null"),
    "with streams that are none": (
        "insert into tiffin.stream_index select 0, hashtextextended('cart-new-' || n, 0), n from generate_series(1, 100) n"),
}


@pytest.mark.parametrize("moment", ["running", "at start"])
@pytest.mark.parametrize("what", INDEXES)
def test_if_the_index_of_streams_is_wrong_the_log_decides(database, what, moment):
    def everything(client):
        return [
            client("LOG.READ", "STREAM", stream) for stream in ("cart-hurt", "cart-well", "menu-kitchen")
        ] + [client("CART.GET", "hurt"), client("CART.COUNT", "hurt"), client("LOG.PROVE", "cart-hurt", 1)]

    server = Server(database=database)
    with server, server.client() as client:
        fill(client)
        for n in range(20):
            client("CART.ADD", f"old-{n}", "kitchen", "tea", 1)
        before = everything(client)
    wait_until_indexed(database)
    if moment == "at start":
        sql(INDEXES[what], database)
    with server, server.client() as client:
        if moment == "running":
            sql(INDEXES[what], database)
        assert everything(client) == before
        for n in range(20):
            assert client("CART.ADD", f"old-{n}", "kitchen", "tea", 1) == 2
            assert client("CART.ADD", f"new-{n}", "kitchen", "tea", 1) == 1
        assert client("CART.ADD", "hurt", "kitchen", "tea", 1) == 4
        check_well(client, 3)
    with server, server.client() as client:
        assert client("CART.ADD", "hurt", "kitchen", "tea", 1) == 5
        assert client("CART.ADD", "new-3", "kitchen", "tea", 1) == 2
    audit = run_tiffin("audit", "--database", database)
    # Rows that lead nowhere do no harm, and stay.
    findings = [line for line in audit.stdout.splitlines() if line.startswith("difference")]
    assert all("a row of stream_index leads to batch" in line for line in findings), audit.stdout
    assert audit.returncode == bool(findings)


def test_if_a_stored_row_is_missing_the_log_decides(database):
    with Server(database=database) as server, server.client() as client:
        fill(client)
    forge("delete from tiffin.cart_count_rows where cart = 'hurt'", database)
    with Server(database=database) as server, server.client() as client, server.client() as other:
        wait_until(lambda: b"carts:known=yes" in client("INFO", "projections"), "carts to be known")
        # Both in one turn of the loop, and so in one batch with each other.
        for n, connection in enumerate((client, other)):
            connection.send(b"CART.ADD hurt kitchen tea 1\r\n" + b"CART.ADD new-%d kitchen tea 1\r\n" % n)
        replies = [connection.read() for connection in (client, other, client, other)]
        assert replies == [4, 5, 1, 1]
        assert "such as 'cart-hurt', are not in the log as the read models have them" in server.output()
        wait_until(lambda: ask(client, "CART.COUNT", "hurt") == 5, "the count to be made again")
        assert client.json("CART.GET", "hurt")["version"] == 5
        assert client("CART.ADD", "hurt", "kitchen", "tea", 1) == 6
        assert client("CART.COUNT", "hurt") == 6
        # The forged digest does not fit any more.
        server.wait_for_output("cart_counts was rebuilt")
    with Server(database=database) as server, server.client() as client:
        assert client("CART.COUNT", "hurt") == 6
        assert client("CART.ADD", "hurt", "kitchen", "tea", 1) == 7
        assert "rebuilt" not in server.output()


def test_a_damaged_stream_that_is_taken_for_new_holds_nobody_up(database):
    with Server(database=database) as server, server.client() as client:
        fill(client)
    forge("delete from tiffin.cart_count_rows where cart = 'hurt';"
        r"update tiffin.batches set events = replace(events, E'\t1\tcart', E'\tone\tcart') where first_position = "
        f"{position_of(database, 'cart-hurt', 1)}", database)
    with Server(database=database) as server, server.client() as client:
        client.send(b"CART.ADD hurt kitchen tea 1\r\nCART.ADD new kitchen tea 1\r\n")
        replies = [client.read(), client.read()]
        assert (replies[0].code, replies[1]) == ("CORRUPT", 1)
        check_well(client, 3)


@pytest.mark.parametrize("position", [100, 2**62, BEYOND])
def test_a_checkpoint_beyond_the_log_is_not_believed(database, position):
    with Server(database=database) as server, server.client() as client:
        fill(client)
    sql(f"update tiffin.projection_checkpoints set position = {position}; update tiffin.cart_count_rows set count = 9",
        database)
    with Server(database=database) as server, server.client() as client:
        assert f"saved up to position {position}, and the log ends at" in server.output()
    # What was folded then has replaced it, though nobody wrote anything.
    with Server(database=database) as server, server.client() as client:
        assert "folding the log again" not in server.output()
        check_well(client, 3)


def test_rows_beyond_the_head_do_not_stop_writes_for_good(database):
    def insert(position, stream):
        tamper(f"""insert into tiffin.events values (
            0, {position}, '{stream}', 1, 'cart.itemAdded', 1, {quoted(added())}, '{{}}', now())""", database)

    server = Server(database=database)
    with server, server.client() as client:
        fill(client)
        head = int(sql("select position from tiffin.log_head", database))
        for number, ahead in enumerate((1, 5)):
            insert(head + ahead, f"cart-behind-{number}")
            wait_until(lambda: ask(client, "CART.ADD", f"new-{number}", "kitchen", "tea", 1) == 1, "a write")
            wait_until(lambda: client("CART.COUNT", f"behind-{number}") == 1, "the row to be read")
            assert client("CART.ADD", f"behind-{number}", "kitchen", "tea", 1) == 2
            head = int(sql("select position from tiffin.log_head", database))
    insert(head + 1, "cart-behind")
    with server, server.client() as client:
        assert f"has events up to position {head + 1}, and its head says {head}" in server.output()
        check_well(client, 3)
        assert client("CART.ADD", "behind", "kitchen", "tea", 1) == 2
