"""`tiffin audit` and `tiffin replay`: what follows from the log, and every way to tamper with it that is known."""

import json
import re
import subprocess
import threading

import pytest

from tampering import tamper
from tiffin import (
    PATIENCE_SECONDS, Server, binary, fresh_data_dir, fresh_database, item_document, outlet_document, private_cluster,
    put_open_outlet, replica_of, run_tiffin, saved_database, section_document, sql, wait_until,
)

SOUND, DIFFERENCE, TAMPERING, COULD_NOT_RUN, NOT_COMPARED, LOST, USAGE = 0, 1, 2, 3, 4, 5, 64


def tiffin(*arguments):
    return subprocess.run([binary(), *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE_SECONDS)


def audit(url):
    run = tiffin("audit", "--database", url)
    return run.returncode, run.stdout + run.stderr


def load(server):
    """An outlet with changes, carts of all kinds, and orders; in batches of one and of many."""
    with server.client() as client:
        put_open_outlet(client, "kitchen", [
            section_document("all", [item_document(f"dish-{n}", 500 + n) for n in range(4)])])
        client("OUTLET.PUT", "bare", json.dumps(outlet_document("Bare")))
        for n in range(5):
            client("CART.ADD", f"cart-{n}", "kitchen", f"dish-{n % 4}", n + 1)
        client.pipeline(
            ("CART.ADD", f"many-{n}", "kitchen", "dish-0", 1) for n in range(40))
        client("CART.SET", "cart-1", "dish-1", 7)
        client("CART.CLEAR", "cart-2")
        client("CART.CHECKOUT", "cart-0", "TOTAL", 500)
        client("MENU.ITEM.PRICE", "kitchen", "dish-3", 900)
        client("CART.ADD", "cart-3", "kitchen", "dish-1", 1)
        client("CART.CHECKOUT", "cart-4", "TOTAL", 500 * 5)


@pytest.fixture(scope="module")
def origin():
    with saved_database(load) as url:
        yield url


@pytest.fixture
def copy(origin):
    """A copy of it, to tamper with."""
    with fresh_database(origin) as url:
        yield url


def position_of(url, stream, version):
    return int(sql(f"select position from tiffin.events where stream = '{stream}' and version = {version}", url))


def test_a_log_that_nobody_touched_is_sound(origin):
    code, output = audit(origin)
    assert code == SOUND, output
    events = sql("select count(*) from tiffin.events", origin)
    commits = sql("select count(*) from tiffin.commits", origin)
    assert f"log       {events} events in {commits} batches" in output
    assert "histories 45 carts, 2 orders" in output
    assert "2 rows of outlet_home, 45 rows of cart_counts, 2 rows of orders, 1 row of takings, 0 rows of supply, 0 rows of processes compared at position" in output
    assert output.splitlines()[-1].startswith("sound")


def test_the_copy_that_tests_tamper_with_is_sound(copy):
    assert audit(copy)[0] == SOUND


# The batch of one event that has the first event of cart-1, and the batch of the most events.
OF_ONE = "(select position from tiffin.events where stream = 'cart-cart-1' and version = 1)"
OF_MANY = "(select first_position from tiffin.batches order by last_position - first_position desc limit 1)"


def change(column, expression, batch):
    return f"update tiffin.batches set {column} = {expression} where first_position = {batch}"


TAMPERED = {
    "a payload": (
        "update tiffin.events set payload = replace(payload, '\"quantity\":2', '\"quantity\":3') "
        "where stream = 'cart-cart-1' and version = 1",
        "does not match its digest"),
    "a payload, in its spaces alone": (
        "update tiffin.events set payload = payload || ' ' where stream = 'cart-cart-1' and version = 1",
        "does not match its digest"),
    "metadata": (
        "update tiffin.events set metadata = '{\"id\":\"another\"}' where stream = 'cart-cart-1' and version = 1",
        "does not match its digest"),
    "a time": (
        "update tiffin.events set recorded_at = recorded_at - interval '1 hour' where stream = 'cart-cart-1' and version = 1",
        "does not match its digest"),
    "a kind": (
        "update tiffin.events set schema_version = schema_version + 1 where stream = 'cart-cart-1' and version = 1",
        "does not match its digest"),
    "a stream's name": (
        "update tiffin.events set stream = 'cart-cart-x' where stream = 'cart-cart-1' and version = 1",
        "does not match its digest"),
    "an event of a batch of many": (
        "update tiffin.events set payload = replace(payload, '\"quantity\":1', '\"quantity\":2') "
        "where stream = 'cart-many-7'",
        "does not match its digest"),
    "the order of two events": (
        "update tiffin.events set position = -position where stream in ('cart-cart-1', 'cart-cart-2') and version = 1;"
        "update tiffin.events e set position = (select -o.position from tiffin.events o where o.stream = "
        "case e.stream when 'cart-cart-1' then 'cart-cart-2' else 'cart-cart-1' end and o.version = 1 "
        "and o.position < 0) where stream = 'cart-cart-1' and version = 1;"
        "update tiffin.events set position = (select first_position from tiffin.commits c where not exists "
        "(select from tiffin.events e where e.position = c.first_position)) where position < 0",
        "does not match its digest"),
    "an event taken out": (
        "delete from tiffin.events where stream = 'cart-cart-1' and version = 1",
        "are missing from the log"),
    "a batch taken out": (
        "delete from tiffin.commits where first_position = "
        "(select position from tiffin.events where stream = 'cart-cart-1' and version = 1)",
        "the batch between them is missing"),
    "a truncated tail": (
        "delete from tiffin.events where position = (select max(position) from tiffin.events)",
        "the log ends at"),
    "a truncated tail with its batch": (
        "delete from tiffin.commits where first_position = (select max(first_position) from tiffin.commits)",
        "the log ends at"),
    "a content digest": (
        "update tiffin.commits set content_digest = sha256('x') where first_position = 9",
        "does not match its digest"),
    "a chain digest": (
        "update tiffin.commits set chain_digest = sha256('x') where first_position = "
        "(select position from tiffin.events where stream = 'cart-cart-1' and version = 1)",
        "does not continue the chain"),
    "the head's digest": (
        "update tiffin.log_head set digest = sha256('x')", "and the batches lead to"),
    "the head's position": (
        "update tiffin.log_head set position = position + 1", "the log ends at"),
    "an event added behind the end": (
        "insert into tiffin.events select partition, position + 1, 'cart-forged', 1, kind, schema_version, payload, "
        "metadata, recorded_at from tiffin.events where position = (select max(position) from tiffin.events);"
        "update tiffin.log_head set position = position + 1",
        "does not match its digest"),
    "an event behind the head": (
        "insert into tiffin.events select partition, position + 1, 'cart-forged', 1, kind, schema_version, payload, "
        "metadata, recorded_at from tiffin.events where position = (select max(position) from tiffin.events)",
        "is behind the head"),
    "a batch behind the head": (
        "insert into tiffin.batches select partition, last_position + 1, last_position + 1, content_digest, "
        "chain_digest, null, recorded_at, events from tiffin.batches order by first_position desc limit 1",
        "is behind the head"),
    "an event before the first position": (
        "insert into tiffin.events select partition, 0, 'cart-forged', 1, kind, schema_version, payload, metadata, "
        "recorded_at from tiffin.events where position = 1",
        "batch 0–0 is before the first position"),
    "a head of a partition that does not exist": (
        "insert into tiffin.log_head select 1, 0, decode(repeat('00', 32), 'hex')",
        "log_head has a row of partition 1, in a log of 1 partition"),
    "another number of partitions": (
        "update tiffin.partition_count set count = 2",
        "partition_count is 2, and the streams lie as in a log of 1 partition"),
    "the number of partitions taken out": ("delete from tiffin.partition_count", "partition_count has no row"),
    "the only head taken out": ("delete from tiffin.log_head", "log_head has no row of partition 0"),
    "an event moved to a partition without a head": (
        "update tiffin.events set partition = 3 where stream = 'cart-cart-1' and version = 1",
        "batches has rows of partition 3, in a log of 1 partition"),
    "an event changed, its digest and the chain up to there with it": (
        "update tiffin.events set payload = replace(payload, '\"quantity\":2', '\"quantity\":3') "
        "where stream = 'cart-cart-1' and version = 1;"
        "update tiffin.commits c set content_digest = (select sha256('\\x00'::bytea || tiffin.canonical_bytes(stream, "
        "version, kind, schema_version, payload, metadata, recorded_at)) from tiffin.events e where e.position = "
        "c.first_position) where first_position = "
        "(select position from tiffin.events where stream = 'cart-cart-1' and version = 1);"
        "update tiffin.commits c set chain_digest = sha256((select chain_digest from tiffin.commits p where "
        "p.last_position = c.first_position - 1) || content_digest) where first_position = "
        "(select position from tiffin.events where stream = 'cart-cart-1' and version = 1)",
        "does not continue the chain"),
    **{
        f"a line {what}": (change("events", expression, OF_ONE), "does not match its digest")
        for what, expression in {
            "with a field too few": r"regexp_replace(events, E'\t[^\t]*$', '')",
            "with a field too many": r"events || E'\t{}'",
            "with an empty field in front": r"E'\t' || events",
            "without a separator": "'x'",
            "whose version is no number": r"replace(events, E'\t1\tcart', E'\tone\tcart')",
            **{
                f"whose version is written as {number!r}": rf"replace(events, E'\t1\tcart', E'\t{number}\tcart')"
                for number in ("01", "+1", " 1", "1 ", "-1", "0x1", "1.0", "1e0", "\u0661", "1" * 30, "")
            },
            "whose schema version is no number": r"replace(events, E'\t2\t{', E'\ttwo\t{')",
            "that ends in a carriage return": r"events || E'\r'",
            "with another one behind it": r"events || E'\n' || events",
            "with an empty one behind it": r"events || E'\n'",
        }.items()
    },
    **{
        f"a batch of many, {what}": (change("events", expression, OF_MANY), message)
        for what, expression, message in [
            ("with two lines exchanged", r"regexp_replace(events, E'^(.*?)\n(.*?)\n', E'\\2\n\\1\n')", "or their order"),
            ("with two lines joined", r"regexp_replace(events, E'\n', E'\t')", " events: the others were removed"),
            ("without its first line", r"regexp_replace(events, E'^.*?\n', '')", " events: the others were removed"),
            ("without its last line", r"regexp_replace(events, E'\n[^\n]*$', '')", " events: the others were removed"),
            ("with its last line empty", r"regexp_replace(events, E'\n[^\n]*$', E'\n')", " events: the others were removed"),
            ("with an empty line more at its start", r"E'\n' || events", "are missing from the log"),
            ("with an empty line more in it", r"regexp_replace(events, E'\n', E'\n\n')", "are missing from the log"),
            ("with an empty line more at its end", r"events || E'\n'", "its events or their order were changed"),
            ("with a line twice", r"regexp_replace(events, E'^(.*?\n)', E'\\1\\1')", "or their order were changed"),
            ("with a line more at its end", r"events || E'\n' || split_part(events, E'\n', 1)", "or their order"),
            ("without any line", "''", "are missing from the log"),
        ]
    },
    "a batch that claims an event of the next one": (
        change("last_position", "last_position + 1", OF_MANY), "overlaps with the batch before it"),
    "a batch that claims an event too few": (
        change("last_position", "last_position - 1", OF_MANY), "the batch between them is missing"),
    "a batch that ends before it begins": (
        change("last_position", "first_position - 1", OF_MANY), "is impossible: a batch has 1 to"),
    "a batch that ends beyond every position": (
        change("last_position", "4611686018427387905", OF_ONE), "is impossible: a batch has 1 to"),
    "every batch ends beyond every position": (
        "update tiffin.batches set last_position = 4611686018427387905", "is impossible: a batch has 1 to"),
    "every batch ends before it begins": ("update tiffin.batches set last_position = 0", "is impossible"),
    "a batch that begins beyond every position": (
        change("(first_position, last_position)", "(4611686018427387905, 4611686018427387905)", OF_ONE),
        "is behind the head"),
    "a batch a second time, within another one": (
        "insert into tiffin.batches select partition, b.last_position, b.last_position, o.content_digest, "
        "o.chain_digest, null, o.recorded_at, o.events from tiffin.batches o join tiffin.batches b using (partition) "
        f"where o.first_position = {OF_ONE} and b.first_position = {OF_MANY}",
        "overlaps with the batch before it"),
    "two batches made one": (
        r"update tiffin.batches b set last_position = n.last_position, events = b.events || E'\n' || n.events "
        f"from tiffin.batches n where b.first_position = {OF_ONE} and n.first_position = b.last_position + 1;"
        f"delete from tiffin.batches where first_position = {OF_ONE} + 1",
        "does not match its digest"),
    "every event taken out": ("update tiffin.batches set events = ''", "the log ends at 0"),
    "every batch taken out": ("delete from tiffin.batches", "the log ends at 0"),
}


def checksum(url):
    """What the tables of the log hold."""
    return sql(
        "select (select sum(hashtext(b::text)::bigint) from tiffin.batches b), "
        "(select sum(hashtext(h::text)::bigint) from tiffin.log_head h), "
        "(select sum(count) from tiffin.partition_count)", url)


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_is_named(copy, what):
    statement, message = TAMPERED[what]
    before = checksum(copy)
    tamper(statement, copy)
    assert checksum(copy) != before, "nothing was tampered with"
    code, output = audit(copy)
    assert code == TAMPERING, output
    assert message in output
    assert "TAMPERED WITH" in output.splitlines()[-1]


SMALLINT, INTEGER, BIGINT = ([-2**(bits - 1), -1, 2**(bits - 1) - 1] for bits in (16, 32, 64))
TEXT = ["''", "'x'", "'cart-'", "U&'\\202e\\001b[2J'", "repeat('[', 1000)"]
BYTES = ["''", "'\\x00'", "decode(repeat('ff', 33), 'hex')"]
TIMES = ["'infinity'", "'-infinity'", "'294276-12-31 23:59:59.999999+00'", "'4713-01-01 00:00:00+00 BC'"]
# Columns of the log's tables: values that each can hold and no server writes, and what names one of them, where
# {at} is the position of the event and {value} the value.
VALUES = {
    "events.partition": (SMALLINT, "events {at}–{at} are missing from the log"),
    "events.position": ([0, *BIGINT], "batch {value}–{value} is"),
    "events.stream": (TEXT, "batch {at}–{at} does not match its digest"),
    "events.version": ([0, *BIGINT], "cart-cart-1 goes from version"),
    "events.kind": (TEXT, "batch {at}–{at} does not match its digest"),
    "events.schema_version": ([0, *INTEGER], "batch {at}–{at} does not match its digest"),
    "events.payload": (
        [*TEXT, *(f"replace(payload, '\"quantity\":2', '\"quantity\":{number}')" for number in (0, *BIGINT))],
        "batch {at}–{at} does not match its digest"),
    "events.metadata": (TEXT, "batch {at}–{at} does not match its digest"),
    "events.recorded_at": (TIMES, "batch {at}–{at} does not match its digest"),
    "batches.partition": (SMALLINT, "the batch between them is missing"),
    "batches.first_position": ([0, *BIGINT], "the batch between them is missing"),
    "batches.last_position": ([0, *BIGINT], "batch {at}–{value} is impossible"),
    "batches.content_digest": (BYTES, "batch {at}–{at} does not match its digest"),
    "batches.chain_digest": (BYTES, "batch {at}–{at} does not continue the chain"),
    "batches.events": (TEXT, "{at}"),
    "batches.recorded_at": (TIMES, "batch {at}–{at} does not match its digest"),
    "log_head.partition": ([1, *SMALLINT], "log_head has a row of partition {value}, in a log of 1 partition"),
    "log_head.position": ([0, *BIGINT], "the head"),
    "log_head.digest": (BYTES, "the head has a digest of"),
    "log_head.epoch": (BIGINT, "the head has the epoch {value}"),
    "log_head.moved_to": (TEXT, "log_head has no row of partition 0"),
}
# What a writer had sent, which nothing else follows from.
UNCHECKED = {"batches.submitted_digest"}
# What a batch says of its own events: only a false claim is one that matters, and it is a difference.
CLAIMED = {"batches.only_carts"}


def test_every_column_of_the_log_is_tampered_with(origin):
    columns = sql(
        "select table_name || '.' || column_name from information_schema.columns where table_schema = 'tiffin' "
        "and table_name in ('events', 'batches', 'log_head')", origin).split()
    assert set(columns) == {*VALUES, *UNCHECKED, *CLAIMED}


@pytest.mark.parametrize("column", VALUES)
def test_a_value_that_no_server_writes_is_named(copy, column):
    values, message = VALUES[column]
    table, name = column.split(".")
    at = position_of(copy, "cart-cart-1", 1)
    where = {"events": f"position = {at}", "batches": f"first_position = {at}", "log_head": "true"}[table]
    stored = "log_head" if table == "log_head" else "batches"
    sql(f"create table saved as table tiffin.{stored}", copy)
    for value in values:
        tamper(f"truncate tiffin.{stored}; insert into tiffin.{stored} table saved; "
               f"update tiffin.{table} set {name} = {value} where {where}", copy)
        code, output = audit(copy)
        assert code == TAMPERING, (value, output)
        assert message.format(at=at, value=value) in output, (value, output)
        assert "TAMPERED WITH" in output.splitlines()[-1]


DIFFERENT = {
    "a stored count": (
        "update tiffin.cart_counts set count = 9 where cart = 'cart-1'",
        "cart 'cart-1' is stored with a count of 9, and the log makes 7 of it"),
    "a stored count that was right once": (
        "update tiffin.cart_count_rows set count = 2, version = 1 where cart = 'cart-1'",
        "and what follows is not in it"),
    "a cart that is stored and never was": (
        "insert into tiffin.cart_count_rows values (0, 'ghost', 1)",
        "cart 'ghost' is stored, and the log has nothing of it"),
    "a cart that is missing": (
        "delete from tiffin.cart_counts where cart = 'cart-3'",
        "cart 'cart-3' is missing from cart_counts"),
    "a home document": (
        "update tiffin.outlet_home set document = replace(document, 'Dish-0', 'Fish-0') where outlet = 'kitchen'",
        "outlet 'kitchen' is stored otherwise than the log has it (document)"),
    "an outlet's snapshot": (
        "update tiffin.outlet_home set snapshot = replace(snapshot, '\"price\":500', '\"price\":501') "
        "where outlet = 'kitchen'",
        "outlet 'kitchen' is stored otherwise than the log has it (snapshot)"),
    "an outlet that is missing": (
        "delete from tiffin.outlet_home where outlet = 'kitchen'", "outlet 'kitchen' is missing from outlet_home"),
    "an outlet that never was": (
        "insert into tiffin.outlet_home_rows select partition, 'ghost', revision, document, snapshot from tiffin.outlet_home "
        "where outlet = 'bare'",
        "outlet 'ghost' is stored, and the log has nothing of it"),
    "a cart's row that cannot be read": (
        "update tiffin.cart_counts set cart = 'no identifier' where cart = 'cart-3'",
        "cart 'no identifier' cannot be read: its key is no identifier"),
    "a row without a key": (
        "insert into tiffin.cart_count_rows values (0, '', 1)", "cart '' cannot be read: its key is no identifier"),
    "a quarantine that the log does not justify": (
        "insert into tiffin.quarantine values (0, 'cart_counts', 'cart-cart-3', 1, 'forged')",
        "stream 'cart-cart-3' is quarantined by cart_counts, and the log says nothing against it"),
    "a quarantine of no stream": (
        "insert into tiffin.quarantine values (0, 'outlet_home', 'nonsense', 1, 'forged')",
        "stream 'nonsense' is quarantined by outlet_home, and the log says nothing against it"),
    "a projection's digest": (
        "update tiffin.projection_checkpoints set digest = sha256('x') where projection = 'cart_counts'",
        "the digest of cart_counts is"),
    "the chain of a checkpoint": (
        "update tiffin.projection_checkpoints set chain_digest = sha256('x') where projection = 'cart_counts'",
        "the checkpoint of cart_counts has the chain"),
    "the chain of a checkpoint, to no digest": (
        "update tiffin.projection_checkpoints set chain_digest = 'x' where projection = 'cart_counts'",
        "the checkpoint of cart_counts has the chain"),
    **{
        f"a stored count, behind {what}": (
            f"update tiffin.cart_counts set count = 9 where cart = 'cart-1'; {statement}",
            ["cart 'cart-1'", message])
        for what, statement, message in [
            ("a checkpoint that is gone", "delete from tiffin.projection_checkpoints where projection = 'cart_counts'",
             "generation 1 of cart_counts has rows and no checkpoint"),
            ("checkpoints that are gone", "delete from tiffin.projection_checkpoints",
             "generation 1 of cart_counts has rows and no checkpoint"),
            ("a checkpoint of another generation",
             "update tiffin.projection_checkpoints set generation = 7 where projection = 'cart_counts'",
             "generation 1 of cart_counts has rows and no checkpoint"),
            ("a checkpoint of nothing", "update tiffin.projection_checkpoints set position = 0",
             "the checkpoint of cart_counts is at position 0, and its rows are there"),
            ("a checkpoint behind the log", "update tiffin.projection_checkpoints set position = position + 1000",
             "and the log ends at"),
            ("checkpoints at different positions",
             "update tiffin.projection_checkpoints set position = 3 where projection = 'orders'",
             "the read models were saved at different positions"),
            ("a checkpoint that is not in use",
             "update tiffin.projection_checkpoints set state = 'previous' where projection = 'cart_counts'",
             "cart_counts has no checkpoint, and others have"),
        ]
    },
    "rows of the generation before": (
        "insert into tiffin.cart_count_rows (partition, generation, cart, count, version) "
        "select partition, 2, cart, count + 1, version from tiffin.cart_count_rows; "
        "insert into tiffin.projection_checkpoints select partition, projection, version, position, digest, 2, "
        "'previous', chain_digest from tiffin.projection_checkpoints where projection = 'cart_counts'",
        "cart 'cart-3' of generation 2 of cart_counts, which was used before, is stored with a count of"),
    "a batch of others that says that it holds only carts": (
        "update tiffin.batches set only_carts = true where first_position = 1",
        "says that it holds only carts, and holds other events: servers pass over it"),
    "a batch of a cart and an order that says that it holds only carts": (
        "update tiffin.batches set only_carts = true where first_position = "
        "(select first_position from tiffin.batches where events ~ '(?n)^cart-' and events ~ '(?n)^order-' limit 1)",
        "says that it holds only carts, and holds other events: servers pass over it"),
    "a function": (
        "create or replace function tiffin.merkle_root(leaves bytea[]) returns bytea language sql immutable "
        "as $$ select sha256('') $$", "function tiffin.merkle_root is not as the migrations make it"),
    "a function's rights": (
        "alter function tiffin.has_point security definer", "function tiffin.has_point is not as the migrations make it"),
    "a function that appends another batch": (
        "do $do$ begin execute replace(pg_get_functiondef('tiffin.append'::regproc), 'epoch := p_epoch;', "
        "'epoch := p_epoch; p_events := p_events;'); end $do$", "function tiffin.append is not as the migrations make it"),
    "a function more": (
        "create function tiffin.sha256(bytea) returns bytea language sql as $$ select $1 $$",
        "function tiffin.sha256 is not one that the migrations make"),
    "a function less": ("drop function tiffin.events_of", "function tiffin.events_of is missing"),
    "a trigger": (
        "create function public.nothing() returns trigger language plpgsql as $$ begin return null; end $$; "
        "create trigger quiet before insert on tiffin.batches for each row execute function public.nothing()",
        "trigger quiet of tiffin.batches is not one that the migrations make"),
    "a rule": (
        "create rule quiet as on insert to tiffin.batches do instead nothing",
        "rule quiet of tiffin.batches is not one that the migrations make"),
    "row security": (
        "alter table tiffin.batches enable row level security", "tiffin.batches hides rows by row security"),
    "a table that inherits": (
        "create table public.more () inherits (tiffin.quarantine)", "tiffin.quarantine has rows of another table, more"),
    "a view that is gone": ("drop view tiffin.commits", "view tiffin.commits is missing"),
    "a view that leaves something out": (
        "create or replace view tiffin.cart_counts as select partition, cart, count from tiffin.cart_count_rows "
        "where cart <> 'cart-1'", "view tiffin.cart_counts is not as the migrations make it"),
    "a view with other times": (
        "create or replace view tiffin.commits as select partition, first_position, last_position, content_digest, "
        "chain_digest, submitted_digest, recorded_at + interval '1 hour' as recorded_at from tiffin.batches",
        "view tiffin.commits is not as the migrations make it"),
    "a view more": ("create view tiffin.other as select 1", "view tiffin.other is not one that the migrations make"),
    "a migration's checksum": (
        "update tiffin.migrations set checksum = 'x' where number = 3", "migration 3 has the checksum x"),
    "the functions' checksum": (
        "update tiffin.functions set checksum = 'x'", "of the functions has the checksum x"),
    "a migration that is gone": ("delete from tiffin.migrations where number = 3", "migration 3 is missing"),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_changed_read_model_is_named(copy, what):
    statement, message = DIFFERENT[what]
    sql(statement, copy)
    code, output = audit(copy)
    assert code == DIFFERENCE, output
    for part in [message] if isinstance(message, str) else message:
        assert part in output, output
    assert "DIFFERENT: " in output.splitlines()[-1]


OTHER_VERSION = ("update tiffin.cart_counts set count = 9 where cart = 'cart-1'; "
                 "update tiffin.projection_checkpoints set version = 1 where projection = 'cart_counts'")
FOUND_BY_THIS_VERSION = (
    "not compared  cart_counts was saved by version 1 of the projection, and this is version 3, which finds 1 difference: "
    "cart 'cart-1' is stored with a count of 9, and the log makes 7 of it")


def test_rows_that_are_altered_behind_another_version_are_not_sound(copy):
    sql(OTHER_VERSION, copy)
    code, output = audit(copy)
    assert code == NOT_COMPARED, output
    assert FOUND_BY_THIS_VERSION in output
    assert output.splitlines()[-1].startswith("NOT COMPARED: 1 finding")


def test_what_else_is_wrong_is_not_counted_as_a_difference_of_another_version(copy):
    sql(f"{OTHER_VERSION}; insert into tiffin.cart_count_rows (partition, generation, cart, count, version) "
        "values (0, 7, 'cart-1', 9, 1)", copy)
    code, output = audit(copy)
    assert code == DIFFERENCE, output
    assert FOUND_BY_THIS_VERSION in output
    assert "generation 7 of cart_counts has rows and no checkpoint" in output


def test_what_cannot_be_compared_is_not_sound(copy):
    sql("insert into tiffin.projection_checkpoints select partition, 'loyalty', 1, position, digest "
        "from tiffin.projection_checkpoints where projection = 'orders'", copy)
    code, output = audit(copy)
    assert code == NOT_COMPARED, output
    assert 'not compared  projection "loyalty" is not one that this version of Tiffin knows' in output
    assert output.splitlines()[-1].startswith("NOT COMPARED: 1 finding")


def test_a_time_that_is_finer_than_digests_cover_is_tampering(copy):
    sql(f"update tiffin.batches set recorded_at = recorded_at + interval '7 microseconds' where first_position = {OF_ONE}",
        copy)
    code, output = audit(copy)
    assert code == TAMPERING, output
    assert "was recorded 7 µs after a millisecond" in output


def test_a_log_in_which_nothing_was_saved_is_sound(database):
    assert run_tiffin("migrate", "--database", database).returncode == 0
    code, output = audit(database)
    assert code == SOUND, output
    assert "stored    not compared: no read model has been saved yet" in output


# The views stand on the columns.
WITHOUT_VIEWS = "drop view tiffin.cart_counts; drop view if exists tiffin.catalogue; drop view tiffin.outlet_home; "
RETYPED = {
    "alter table tiffin.cart_count_rows alter cart type bytea using cart::bytea": "cart_count_rows.cart is bytea",
    "alter table tiffin.cart_count_rows alter cart type integer using hashtext(cart)": "cart_count_rows.cart is integer",
    "alter table tiffin.cart_count_rows drop constraint cart_count_rows_pkey; "
    "alter table tiffin.cart_count_rows alter cart drop not null; "
    "update tiffin.cart_count_rows set cart = null where cart = 'cart-3'": "cart_count_rows.cart is text, and was",
    "alter table tiffin.cart_count_rows alter count type bigint": "cart_count_rows.count is bigint",
    "alter table tiffin.cart_count_rows alter count type text": "cart_count_rows.count is text",
    "alter table tiffin.cart_count_rows alter count type real": "cart_count_rows.count is real",
    "alter table tiffin.cart_count_rows rename count to sum": "cart_count_rows.count is not there",
    "alter table tiffin.cart_count_rows alter count drop not null; "
    "update tiffin.cart_count_rows set count = null where cart = 'cart-3'": "cart_count_rows.count is integer, and was",
    "alter table tiffin.outlet_home_rows alter revision type integer": "outlet_home_rows.revision is integer",
    "alter table tiffin.projection_checkpoints alter version type bigint": "projection_checkpoints.version is bigint",
    "alter table tiffin.projection_checkpoints alter chain_digest type text using 'x'": "chain_digest is text",
    "alter table tiffin.quarantine alter position type integer": "quarantine.position is integer",
    "drop table tiffin.cart_count_rows": "cart_count_rows.cart is not there",
}


@pytest.mark.parametrize("change", RETYPED)
def test_columns_of_another_type_are_named(copy, change):
    sql(WITHOUT_VIEWS + change, copy)
    code, output = audit(copy)
    assert code == DIFFERENCE, output
    assert any(line.startswith("difference") and RETYPED[change] in line for line in output.splitlines()), output
    assert "not compared: the tables are not what the migrations made" in output


def test_the_first_event_that_a_stored_row_does_not_have_is_named(copy):
    sql("update tiffin.cart_count_rows set count = 2, version = 1 where cart = 'cart-1'", copy)
    position = position_of(copy, "cart-cart-1", 2)
    code, output = audit(copy)
    assert code == DIFFERENCE
    assert f"position {position}, cart 'cart-1'" in output


def rechained(url):
    """Recomputes every digest and the chain: what somebody does who can write everything."""
    sql("""
        update tiffin.commits c set content_digest = (
            select tiffin.merkle_root(array_agg(sha256('\\x00'::bytea || tiffin.canonical_bytes(
                stream, version, kind, schema_version, payload, metadata, recorded_at)) order by position))
            from tiffin.events e where e.position between c.first_position and c.last_position);
        do $$
        declare
            chain bytea := decode(repeat('00', 32), 'hex');
            c record;
        begin
            for c in select * from tiffin.commits order by first_position loop
                chain := sha256(chain || c.content_digest);
                update tiffin.commits set chain_digest = chain where first_position = c.first_position;
            end loop;
            update tiffin.log_head set digest = chain;
            update tiffin.projection_checkpoints set chain_digest = tiffin.chain_at(partition, position);
        end $$
        """, url)


def test_a_history_that_cannot_have_happened_is_named_even_where_every_digest_is_right(copy):
    tamper("update tiffin.events set payload = '{\"line\":\"dish-9\",\"from\":1,\"to\":2}' "
           "where stream = 'cart-cart-1' and version = 2", copy)
    rechained(copy)
    code, output = audit(copy)
    assert code == DIFFERENCE, output
    assert "cart-cart-1 is impossible" in output


def test_an_event_that_cannot_be_understood_is_named(copy):
    tamper("update tiffin.events set payload = '{' where stream = 'cart-cart-1' and version = 2", copy)
    rechained(copy)
    code, output = audit(copy)
    assert code == DIFFERENCE, output
    assert "cart-cart-1 cannot be understood" in output


def test_an_order_that_is_not_its_cart_is_named(copy):
    tamper("update tiffin.events set payload = replace(payload, '\"total\":500', '\"total\":50') "
           "where kind = 'order.placed' and payload like '%\"total\":500}%'", copy)
    rechained(copy)
    code, output = audit(copy)
    assert code == DIFFERENCE, output
    assert "is not what cart 'cart-0' held when it was checked out" in output


def test_an_audit_runs_while_a_server_writes(origin):
    with fresh_database() as url, Server(database=url) as server:
        load(server)
        with server.client() as client:
            for n in range(20):
                client.pipeline(("CART.ADD", f"more-{n}-{k}", "kitchen", "dish-0", 1) for k in range(50))
                if n % 5 == 0:
                    code, output = audit(url)
                    assert code == SOUND, output


def test_an_audit_needs_no_more_than_the_right_to_read(origin):
    role = "tiffin_auditor_of_tests"
    sql(f"drop role if exists {role}", origin)
    sql(f"create role {role} login; grant tiffin_auditor to {role}", origin)
    try:
        separator = "&" if "?" in origin else "?"
        code, output = audit(f"{origin}{separator}options=-crole%3D{role}")
        assert code == SOUND, output
    finally:
        sql(f"drop owned by {role}; drop role {role}", origin)


def test_an_audit_works_on_a_replica_that_follows_the_log():
    # What other tests write in the shared PostgreSQL would have to be followed too.
    with private_cluster(max_connections=60) as (url, _, _), Server(database=url) as server:
        load(server)
        with replica_of(url) as replica, server.client() as client:
            assert sql("select pg_is_in_recovery()", replica) == "t"
            client("CART.ADD", "later", "kitchen", "dish-0", 1)
            head = sql("select position from tiffin.log_head", url)
            wait_until(lambda: sql("select position from tiffin.log_head", replica) == head, "the replica")
            code, output = audit(replica)
            assert code == SOUND, output
            assert f"head {head}, digest" in output
            replayed = tiffin("replay", "cart_counts", "--database", replica, "--output", "ndjson").stdout
            assert '{"cart":"later","count":1}' in replayed


@pytest.mark.parametrize("words", [
    ["audit"], ["replay", "--all"], ["rebuild", "--all"], ["forget", "c-1"], ["log"], ["why", "cart", "cart-1"],
], ids=lambda words: words[0])
@pytest.mark.parametrize("migrations, message", [
    (0, "the database has no log; run tiffin migrate"),
    (3, "the database has migrations up to 3, and this version of Tiffin works with"),
])
def test_a_database_of_another_time_is_named(database, words, migrations, message):
    if migrations:
        sql("create schema tiffin; create table tiffin.migrations (number integer); "
            f"insert into tiffin.migrations select generate_series(1, {migrations})", database)
    run = tiffin(*words, "--database", database)
    assert run.returncode == (COULD_NOT_RUN if words == ["audit"] else 1)
    assert message in run.stderr


@pytest.mark.parametrize("statement, message", [
    ("drop table tiffin.functions", "the database has version 0 of the functions, and this version of Tiffin works with"),
    ("update tiffin.functions set version = 0", "the database has version 0 of the functions, and this version of Tiffin"),
    ("update tiffin.functions set version = 99", "the database has version 99 of the functions, which this version of Tiffin"),
])
def test_functions_of_another_time_are_named(database, statement, message):
    assert tiffin("migrate", "--database", database).returncode == 0
    sql(statement, database)
    run = tiffin("audit", "--database", database)
    assert run.returncode == COULD_NOT_RUN and message in run.stderr, run


def test_an_audit_after_functions_were_added_to_a_migrated_database_is_sound(database):
    assert tiffin("migrate", "--database", database).returncode == 0
    sql("drop table tiffin.functions", database)
    made = tiffin("migrate", "--database", database).stdout
    assert made == f"version {sql('select version from tiffin.functions', database)} of the functions applied\n"
    code, output = audit(database)
    assert code == SOUND, output
    # A server that starts puts nothing right behind the back of an auditor.
    sql("alter function tiffin.has_point security definer", database)
    assert tiffin("migrate", "--database", database).stdout.startswith("nothing to do")
    code, output = audit(database)
    assert code == DIFFERENCE and "function tiffin.has_point is not as the migrations make it" in output, output


def test_an_audit_that_cannot_run_says_so():
    code, output = audit("postgres:///nowhere?host=/nonexistent")
    assert code == COULD_NOT_RUN
    assert "tiffin audit:" in output


def test_a_log_of_several_partitions_is_audited():
    with fresh_database() as url:
        assert tiffin("migrate", "--database", url, "--partitions", 3).returncode == 0
        with Server(database=url) as server:
            load(server)
        code, output = audit(url)
        assert code == SOUND, output
        assert "partition 2" in output
        for table in ("batches", "log_head"):
            sql(f"update tiffin.{table} set partition = -1 - partition where partition < 2;"
                f"update tiffin.{table} set partition = 2 + partition where partition < 0", url)
        code, output = audit(url)
        assert code == TAMPERING, output
        assert re.search(r"belongs to partition 1 of 3, and \d+ more streams to others", output)
        assert re.search(r"belongs to partition 0 of 3, and \d+ more streams to others", output)


def test_an_embedded_log_is_audited_while_its_server_runs():
    with fresh_data_dir() as folder, Server(data_dir=folder) as server:
        load(server)
        run = tiffin("audit", "--data-dir", folder)
        assert run.returncode == SOUND, run.stdout + run.stderr
        assert tiffin("log", "--data-dir", folder, "--stream", "cart-cart-1").stdout.count("\n") == 2


def test_anchors_catch_what_was_rewritten_from_the_first_event_on(copy, tmp_path):
    file = tmp_path / "anchors"

    def anchored(option="--anchor"):
        run = tiffin("audit", "--database", copy, option, file)
        return run.returncode, run.stdout + run.stderr

    code, output = anchored("--new-anchor")
    assert code == SOUND and f"anchors     begun in {file}" in output
    code, output = anchored()
    assert code == SOUND and "anchors     1 of 1 hold" in output
    tamper("update tiffin.events set payload = replace(payload, '\"quantity\":2', '\"quantity\":3') "
           "where stream = 'cart-cart-1' and version = 1", copy)
    tamper("update tiffin.events set payload = replace(payload, '\"from\":2', '\"from\":3') "
           "where stream = 'cart-cart-1' and version = 2", copy)
    rechained(copy)
    assert audit(copy)[0] == SOUND, "whoever rewrites everything is not noticed without an anchor"
    code, output = anchored()
    assert code == TAMPERING, output
    assert "anchors     0 of 2 hold" in output
    assert file.read_text().count("\n") == 2, "what was tampered with is not vouched for"


def test_a_mistyped_anchor_file_is_no_new_one(origin, tmp_path):
    file = tmp_path / "anchors"
    for option, write, words in (
            ("--anchor", None, "No such file or directory; --new-anchor begins a file"),
            ("--anchor", "", "there are no anchors in it; --new-anchor begins a file"),
            ("--new-anchor", "", "is there already; --anchor compares the log with it")):
        if write is not None:
            file.write_text(write)
        run = tiffin("audit", "--database", origin, option, file)
        assert (run.returncode, run.stdout) == (COULD_NOT_RUN, "")
        assert run.stderr == f"tiffin audit: {file}: {words}\n"
        assert file.exists() == (write is not None) and (write is None or file.read_text() == write)
    run = tiffin("audit", "--database", origin, "--anchor", file, "--new-anchor", file)
    assert run.returncode == 64 and "give --anchor or --new-anchor, not both" in run.stderr


def test_a_log_that_lost_its_end_is_not_called_tampered_with(copy, tmp_path):
    file = tmp_path / "anchors"
    earlier = json.loads(sql(
        "select json_build_object('partition', 0, 'position', last_position, 'digest', encode(chain_digest, 'hex'), "
        "'time', '2026-11-21T15:00:00Z') from tiffin.batches order by first_position desc offset 4 limit 1", copy))
    file.write_text(json.dumps(earlier) + "\n")
    assert tiffin("audit", "--database", copy, "--anchor", file).returncode == SOUND
    # As where a standby takes over that lacks the newest batches.
    sql(f"delete from tiffin.batches where first_position > {earlier['position']}; "
        f"update tiffin.log_head set position = {earlier['position']}, digest = decode('{earlier['digest']}', 'hex'); "
        "truncate tiffin.stream_index, tiffin.projection_checkpoints, tiffin.outlet_home_rows, tiffin.cart_count_rows, "
        "tiffin.order_rows, tiffin.takings_rows, tiffin.supply_rows, tiffin.process_rows", copy)

    def check(why):
        run = tiffin("audit", "--database", copy, "--anchor", file)
        assert run.returncode == LOST, run
        lines = run.stdout.splitlines()
        assert lines[0].startswith("lost          ") and why in lines[0], run.stdout
        assert lines[-1].startswith("LOST: 1 finding") and "anchors     1 of 2 hold" in run.stdout
        assert file.read_text().count("\n") == 2, "another log is not vouched for"

    check(f"the log ends at {earlier['position']}")
    with Server(database=copy) as server, server.client() as client:
        client.pipeline(("CART.ADD", f"later-{n}", "kitchen", "dish-0", 1) for n in range(50))
    check("does not hold")
    # What contradicts itself is tampering, whatever was lost besides.
    sql(f"update tiffin.batches set content_digest = sha256('x') where first_position = {OF_ONE}", copy)
    assert tiffin("audit", "--database", copy, "--anchor", file).returncode == TAMPERING


def test_a_file_without_anchors_is_refused(origin, tmp_path):
    file = tmp_path / "anchors"
    file.write_text("hello\n")
    run = tiffin("audit", "--database", origin, "--anchor", file)
    assert run.returncode == COULD_NOT_RUN
    assert "is not an anchor" in run.stderr


# --- replay


def rows(url, *arguments):
    run = tiffin("replay", *arguments, "--database", url, "--output", "ndjson")
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_a_replay_is_what_is_stored(origin):
    stored = dict(line.split("|") for line in sql("select cart, count from tiffin.cart_counts", origin).splitlines())
    for options in ((), ("--from-scratch",)):
        assert {row["cart"]: str(row["count"]) for row in rows(origin, "cart_counts", *options)} == stored
        homes = rows(origin, "outlet_home", *options)
        assert [row["outlet"] for row in homes] == ["bare", "kitchen"]
        assert homes[1]["document"] == json.loads(
            sql("select document from tiffin.outlet_home where outlet = 'kitchen'", origin))
    assert [(row["item"], row["price"]) for row in rows(origin, "catalogue")] == [
        ("dish-0", 500), ("dish-1", 501), ("dish-2", 502), ("dish-3", 900)]


def test_a_replay_goes_back_to_any_position(origin):
    events = [json.loads(line) for line in tiffin("log", "--database", origin).stdout.splitlines()]
    counts = {}
    for event in events:
        payload, cart = event["payload"], event["stream"].removeprefix("cart-")
        match event["kind"]:
            case "cart.itemAdded":
                counts[cart] = counts.get(cart, 0) + payload["quantity"]
            case "cart.quantityChanged":
                counts[cart] += payload["to"] - payload["from"]
            case "cart.cleared":
                counts[cart] -= payload["count"]
            case "cart.checkedOut":
                counts[cart] = 0
        if event["position"] % 9 == 0:
            replayed = rows(origin, "cart_counts", "--to", event["position"])
            assert {row["cart"]: row["count"] for row in replayed} == counts


def test_a_replay_goes_back_to_a_time(origin):
    time = sql(
        "select to_char(recorded_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') from tiffin.events "
        "where stream = 'cart-cart-1' and version = 1", origin)
    carts = {row["cart"] for row in rows(origin, "cart_counts", "--to", time)}
    assert "cart-1" in carts and "cart-4" not in carts
    assert rows(origin, "cart_counts", "--to", "2001-01-01T00:00:00Z") == []


def test_every_projection_is_replayed(origin):
    run = tiffin("replay", "--all", "--from-scratch", "--database", origin)
    assert run.returncode == 0
    assert [line.split()[:2] for line in run.stdout.splitlines()] == [
        ["outlet_home", "2"], ["cart_counts", "45"], ["orders", "2"], ["takings", "1"], ["supply", "0"],
        ["processes", "0"], ["catalogue", "4"]]
    assert "events folded in" in run.stderr


def test_a_replay_prints_a_table_or_json(origin):
    table = tiffin("replay", "cart_counts", "--database", origin).stdout.splitlines()
    assert table[0].split() == ["cart", "count"] and len(table) == 46
    assert len(json.loads(tiffin("replay", "cart_counts", "--database", origin, "--output", "json").stdout)) == 45


@pytest.mark.parametrize("arguments, message", [
    (["nothing"], "there is no projection 'nothing'"),
    ([], "name a projection, or give --all"),
    (["cart_counts", "--all"], "name a projection, or give --all"),
    (["cart_counts", "--to", "yesterday"], "--to: 'yesterday' is not a position, or a time"),
    (["cart_counts", "--output", "xml"], "--output: 'xml' is not one of table, json, ndjson, csv"),
])
def test_wrong_options_are_refused(origin, arguments, message):
    run = tiffin("replay", *arguments, "--database", origin)
    assert run.returncode == USAGE
    assert message in run.stderr


def test_a_position_beyond_the_end_is_refused(origin):
    run = tiffin("replay", "cart_counts", "--to", 10**9, "--database", origin)
    assert run.returncode == 1
    assert "of the log ends at" in run.stderr


# --- while a server runs


def test_every_answer_of_a_live_server_is_compared(origin):
    with fresh_database() as url, Server(database=url) as server:
        load(server)
        run = tiffin("audit", "--database", url, "--server", f"127.0.0.1:{server.port}")
        assert run.returncode == SOUND, run.stdout + run.stderr
        assert "server      47 answers compared" in run.stdout


def test_what_is_written_meanwhile_is_no_difference(origin):
    with fresh_database() as url, Server(database=url) as server:
        load(server)
        stop = threading.Event()

        def write():
            with server.client() as client:
                n = 0
                while not stop.is_set():
                    client("CART.ADD", f"cart-{n % 40}-busy", "kitchen", "dish-1", 1)
                    client("CART.SET", f"cart-{n % 40}-busy", "dish-1", n % 7 + 1)
                    client("MENU.ITEM.PRICE", "kitchen", "dish-2", 500 + n % 50)
                    n += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(5):
                run = tiffin("audit", "--database", url, "--server", f"127.0.0.1:{server.port}")
                assert run.returncode == SOUND, run.stdout + run.stderr
        finally:
            stop.set()
            writer.join(timeout=PATIENCE_SECONDS)


def test_a_server_that_answers_otherwise_is_found():
    with fresh_database() as url, Server(
            database=url, environment={"TIFFIN_PLANTED_FAULT": "skip-event:10"}) as server:
        load(server)
        run = tiffin("audit", "--database", url, "--server", f"127.0.0.1:{server.port}")
        assert run.returncode == DIFFERENCE, run.stdout + run.stderr
        assert "is answered" in run.stdout and "and the log leads to" in run.stdout
