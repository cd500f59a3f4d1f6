"""How the log lies in PostgreSQL: what SQL sees of it, and how a log with a row an event moves to one with a row a batch."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tiffin import (
    Server, binary, fresh_database, item_document, open_transaction, put_open_outlet, run_tiffin, section_document, sql,
    wait_until,
)

OLD_LAYOUT = (Path(__file__).parent / "old_layout.sql").read_text()
EVENTS = "select coalesce(md5(string_agg(e::text, '' order by partition, position)), '') from tiffin.events as e"
COMMITS = "select coalesce(md5(string_agg(c::text, '' order by partition, first_position)), '') from tiffin.commits as c"


def contents(url):
    return sql(EVENTS, url), sql(COMMITS, url)


@pytest.fixture(scope="module")
def origin():
    """A log of several steps of a move, with receipts for one of its events, and whose server has stopped."""
    with fresh_database() as url:
        assert run_tiffin("migrate", "--database", url).returncode == 0
        # Every log of that layout has this rule.
        sql("update tiffin.partition_count set placement = 'sha256'", url)
        with Server(database=url) as server, server.client() as client:
            put_open_outlet(client, "kitchen", [section_document("all", [item_document("dish", 500)])])
            client.pipeline(("CART.ADD", f"cart-{n % 7_000}", "kitchen", "dish", 1) for n in range(30_000))
            client("CART.CHECKOUT", "cart-1", "TOTAL", 500 * int(client("CART.COUNT", "cart-1")))
            receipts = {form: client("LOG.PROVE", "cart-cart-1", 2, "FORM", form).decode() for form in ("links", "tree")}
        yield url, receipts


@pytest.fixture
def old(origin):
    """The same log in the layout of before, its receipts, and what SQL showed of it."""
    template, receipts = origin
    with fresh_database(template) as url:
        shown = contents(url)
        sql(OLD_LAYOUT, url)
        yield url, receipts, shown


def check_moved(url, receipts, shown, *, was_served=False):
    assert contents(url) == shown
    assert sql("select to_regclass('tiffin.event_rows'), to_regclass('tiffin.commit_rows')", url) == "|"
    # Until a server has made them anew, the read models are those of the version before.
    audit = run_tiffin("audit", "--database", url)
    assert audit.returncode == (0 if was_served else 4), audit.stdout
    assert ("was saved by version 2 of the projection" in audit.stdout) != was_served
    with Server(database=url) as server, server.client() as client:
        head = json.loads(receipts["links"])["head"]["position"]
        for form, receipt in receipts.items():
            assert client("LOG.PROVE", "cart-cart-1", 2, "HEAD", head, "FORM", form).decode() == receipt
        assert client("CART.COUNT", "cart-2") == 5
        assert client("CART.ADD", "cart-2", "kitchen", "dish", 1) is not None
        assert client("CART.COUNT", "cart-2") == 6
        assert len(client("LOG.READ", "STREAM", "cart-cart-2")) == 6
        assert client.json("ORDER.GET", json.loads(client("LOG.READ", "STREAM", "cart-cart-1")[-1])["payload"]["order"])


def test_an_old_log_is_moved_and_is_the_same_log(old):
    url, receipts, shown = old
    run = run_tiffin("migrate", "--database", url)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0] == "migration 7 (batches) applied"
    assert re.search(r"^30,?\d{3} events were moved", run.stdout, re.M)
    assert run_tiffin("migrate", "--database", url).stdout == "nothing to do: the schema is up to date\n"
    check_moved(url, receipts, shown)


def test_a_server_moves_an_old_log_before_it_serves(old):
    url, receipts, shown = old
    with Server(database=url) as server:
        server.wait_for_output("events were moved")
    check_moved(url, receipts, shown, was_served=True)


def test_a_move_that_is_killed_goes_on_where_it_stopped(old):
    url, receipts, shown = old
    # As soon as there is the table of batches, whoever writes the last one waits for a lock.
    sql("""
        create table public.last as select max(first_position) as position from tiffin.commits;
        create function public.hold() returns trigger language plpgsql as $$ begin
            if new.first_position = (select position from public.last) then perform pg_advisory_xact_lock(1); end if;
            return new;
        end $$;
        create function public.hold_batches() returns event_trigger language plpgsql as $$ begin
            if to_regclass('tiffin.batches') is not null and not exists (select from pg_trigger where tgname = 'hold') then
                create trigger hold before insert on tiffin.batches for each row execute function public.hold();
            end if;
        end $$;
        create event trigger hold_batches on ddl_command_end when tag in ('CREATE TABLE')
            execute function public.hold_batches();
    """, url)
    with open_transaction(url, "select pg_advisory_xact_lock(1)"):
        first = subprocess.Popen([binary(), "migrate", "--database", url])
        wait_until(
            lambda: sql("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                        "and datname = current_database()", url) == "1", "the move to wait")
        first.kill()
        first.wait()
        moved = int(sql("select count(*) from tiffin.batches", url))
        assert 0 < moved < int(sql("select count(*) from tiffin.commit_rows", url))
        for command in (["audit"], ["replay", "--all"], ["why", "cart", "cart-1"]):
            run = run_tiffin(*command, "--database", url)
            assert run.returncode == (3 if command == ["audit"] else 1)
            assert "not moved to the layout of this version yet; run tiffin migrate" in run.stdout + run.stderr
    sql("drop event trigger hold_batches; drop trigger hold on tiffin.batches", url)
    run = run_tiffin("migrate", "--database", url)
    assert run.returncode == 0, run.stderr
    assert "events were moved" in run.stdout
    check_moved(url, receipts, shown)


def test_a_lost_event_is_as_lost_after_the_move_as_before(old):
    url, _, _ = old
    sql("delete from tiffin.events where stream = 'cart-cart-9' and version = 2", url)
    assert run_tiffin("migrate", "--database", url).returncode == 0
    assert sql("select count(*) from tiffin.events where stream = 'cart-cart-9'", url) == "4"
    run = run_tiffin("audit", "--database", url)
    assert run.returncode == 2
    # How the old server batched its events depends on its pace: the lost one may be the last of its batch.
    assert re.search("are missing from the log|the others were removed", run.stdout), run.stdout


@pytest.mark.parametrize("damage, sentence", [
    ("update tiffin.events set position = -1 where position = 5", "the event at position -1 of partition 0 is in no batch"),
    ("update tiffin.commits set last_position = last_position + 1 where first_position = 1",
     "the batch at position 2 of partition 0 is impossible, or overlaps with the one before"),
    ("update tiffin.commits set last_position = 4611686018427387905 where first_position = 1",
     "the batch at position 1 of partition 0 is impossible"),
])
def test_a_log_whose_batches_are_damaged_is_not_moved_and_loses_nothing(old, damage, sentence):
    url, _, _ = old
    sql(damage, url)
    count = sql("select count(*) from tiffin.events", url)
    for _ in range(2):
        run = run_tiffin("migrate", "--database", url)
        assert run.returncode == 1
        assert sentence in run.stderr
    assert sql("select count(*) from tiffin.event_rows", url) == count


def test_psql_finds_positions_and_streams_by_index(origin):
    url, _ = origin
    assert sql("select string_agg(position::text, ' ') from tiffin.events_between(0, 7, 9)", url) == "7 8 9"
    assert sql("select string_agg(version::text, ' ') from tiffin.events_of('cart-cart-3')", url) == "1 2 3 4 5"
    assert sql("select count(*) from tiffin.events_of('cart-nobody')", url) == "0"
    for query in ("tiffin.events_between(0, 7, 9)", "tiffin.events_of('cart-cart-3')"):
        plan = sql(f"analyze; explain select * from {query}", url)
        assert "Seq Scan on batches" not in plan
        assert "Seq Scan on stream_index" not in plan


def test_an_event_with_a_line_break_is_as_damaged_after_the_move_as_before(old):
    url, _, _ = old
    sql("update tiffin.events set payload = payload || E'\\n' where stream = 'cart-cart-9' and version = 2", url)
    assert run_tiffin("migrate", "--database", url).returncode == 0
    run = run_tiffin("audit", "--database", url)
    assert run.returncode == 2
    assert "does not match its digest" in run.stdout
    with Server(database=url) as server, server.client() as client:
        assert client.error("CART.GET", "cart-9").code == "CORRUPT"
        assert client("CART.COUNT", "cart-8") == 5


def test_the_index_of_streams_is_never_behind_a_checkpoint(database):
    """Otherwise nobody would tell a server that begins with saved rows which streams are not new."""
    saved = "select coalesce(max(position), 0) from tiffin.projection_checkpoints"
    indexed = """
        select coalesce(max(b.last_position), 0) from tiffin.batches as b
            join tiffin.stream_index as i on i.partition = b.partition and i.first_position = b.first_position
        where i.stream is null"""
    waiting = "select count(*) from pg_stat_activity where wait_event = 'advisory' and datname = current_database()"
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("dish", 500)])])
        # As if another server were at the index.
        with open_transaction(database, "select pg_advisory_lock(1953064550, 0)"):
            before = sql(saved, database)
            client.pipeline(("CART.ADD", f"cart-{n}", "kitchen", "dish", 1) for n in range(500))
            wait_until(lambda: sql(waiting, database) == "1", "the server to wait for the index")
            assert sql(saved, database) == before
        head = client.json("LOG.HEAD")[0]["position"]
        wait_until(lambda: int(sql(saved, database)) == head, "a checkpoint")
        assert int(sql(indexed, database)) == head
