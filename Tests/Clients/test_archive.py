"""Old days are archived: everything is answered as before, from a folder that is checked with every read."""

import contextlib
import fcntl
import os
import random
import shutil
import subprocess
from datetime import datetime, timedelta, timezone

import pytest

from tampering import tamper
from test_receipts import verify
from test_time_travel import Recorder
from tiffin import (
    Server, binary, fresh_database, item_document, put_open_outlet, read_log, run_tiffin, section_document, sql, wait_until)
from troubles import WallClock

TEN_DAYS = 10 * 86_400


def day(ago: int) -> str:
    return f"{datetime.now(timezone.utc) - timedelta(days=ago):%Y-%m-%d}"


def run(command, folder, database, *options):
    return run_tiffin(command, folder, "--database", database, *options)


def done(command, folder, database, *options):
    result = run(command, folder, database, *options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def archived(database) -> int:
    return int(sql("select coalesce(max(last_position), 0) from tiffin.batches where events is null", database))


def clear_read_models(database):
    """Has the next server begin with the first event."""
    sql("delete from tiffin.projection_checkpoints", database)


@contextlib.contextmanager
def ten_days_ago(database, folder):
    """A server whose clock says so, and a client of it."""
    clock = WallClock(folder)
    clock.set(-TEN_DAYS)
    with Server(database=database, environment=clock.environment) as server:
        with server.client() as client:
            yield client
        assert server.stop() == 0


@pytest.fixture
def old(database, tmp_path):
    """A database with events that are ten days old, a backup of it, and its log."""
    with ten_days_ago(database, tmp_path) as client:
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])
        for number in range(30):
            client("CART.ADD", f"c{number % 10}", "kitchen", "tea", 1, "NOTE", f"pot {number}")
        events = read_log(client)
    folder = tmp_path / "archive"
    done("backup", folder, database)
    return database, folder, events


def test_every_answer_is_as_before_once_its_events_were_archived(database, tmp_path):
    folder = tmp_path / "archive"
    with ten_days_ago(database, tmp_path) as client:
        recorder = Recorder(client, 7)
        for editor in recorder.editors:
            editor.put(client)
        for _ in range(60):
            recorder.change()
            recorder.record()
        events = read_log(client)
        receipt = client("LOG.PROVE", events[0]["stream"], 1).decode()
    done("backup", folder, database)
    assert f": {len(events)} events left the database" in done("archive", folder, database, "--before", day(2))
    assert archived(database) == len(events)
    assert sql("select count(*) from tiffin.events", database) == "0"
    clear_read_models(database)
    with Server(database=database) as server, server.client() as client:
        assert read_log(client)[:len(events)] == events
        recorder.check(client)
        # What nobody changed since is decided on, and proven, from what was archived.
        put_open_outlet(client, "later", [section_document("all", [item_document("tea", 100)])])
        for editor in recorder.editors:
            assert client("OUTLET.OPEN", editor.outlet) is not None
        assert client("CART.ADD", "new", "later", "tea", 1) == 1
        proof = client("LOG.PROVE", events[0]["stream"], 1).decode()
        assert verify("-", "--head", client.json("LOG.TREE", 0)["root"], text=proof).returncode == 0
    assert verify("-", "--anchor", folder / "anchors.jsonl", text=receipt).returncode == 0
    audit = run_tiffin("audit", "--database", database)
    assert audit.returncode == 0 and "sound" in audit.stdout, audit.stdout + audit.stderr
    for words in (["replay", "--all"], ["why", "outlet", recorder.editors[0].outlet], ["log"]):
        assert run_tiffin(*words, "--database", database).returncode == 0, words
    # The folder goes on as a backup, of all of the log.
    assert f"of which {int(sql('select position from tiffin.log_head', database)) - len(events)} are new" in done(
        "backup", folder, database)
    with fresh_database() as other:
        assert run("restore", folder, other, "--verify").returncode == 0
        assert archived(other) == 0
        with Server(database=other) as server, server.client() as client:
            assert read_log(client)[:len(events)] == events


def test_without_the_folder_old_events_are_unavailable_until_it_is_found_again(old, tmp_path):
    database, folder, events = old
    done("archive", folder, database, "--before", day(1))
    clear_read_models(database)
    with Server(database=database) as server, server.client() as client:
        assert client("CART.COUNT", "c1") == 3
        moved = tmp_path / "moved"
        folder.rename(moved)
        with server.client() as other:
            error = other.error("CART.GET", "c1", "AT", 15)
        assert error.code == "UNAVAILABLE" and "archive" in str(error) and str(tmp_path) not in str(error)
        server.wait_for_output(str(folder))
        assert run("archive", folder, database).returncode == 1
        assert f"all {len(events)} events that were archived are there" in done("archive", moved, database)
        assert read_log(client) == events
        assert client("CART.ADD", "c1", "kitchen", "tea", 1) == 4
    # An audit that cannot read everything says so, and names the file.
    moved.rename(folder)
    audit = run_tiffin("audit", "--database", database)
    assert audit.returncode == 3 and str(moved) in audit.stderr, audit.stdout + audit.stderr


@pytest.mark.parametrize("seed", range(3))
def test_a_folder_that_was_altered_is_never_believed(old, seed):
    database, folder, events = old
    done("archive", folder, database, "--before", day(1))
    [file] = (folder / "batches").iterdir()
    whole, dice = file.read_bytes(), random.Random(seed)
    with Server(database=database) as server:
        server.stop()
    unread = 0
    for _ in range(8):
        bytes_ = bytearray(whole)
        match dice.randrange(4):
            case 0:
                bytes_[dice.randrange(len(bytes_))] ^= 1 << dice.randrange(8)
            case 1:
                del bytes_[dice.randrange(len(bytes_)):]
            case 2:
                # Two rows in each other's place.
                rows = bytes(bytes_).splitlines(keepends=True)
                one, other = dice.sample(range(len(rows)), 2)
                rows[one], rows[other] = rows[other], rows[one]
                bytes_ = b"".join(rows)
            case 3:
                bytes_ = bytes(bytes_).replace(b"pot 1", b"pot 2", dice.randint(1, 5))
        file.write_bytes(bytes_)
        with Server(database=database) as server, server.client() as client:
            reply, = client.pipeline([("LOG.READ", "COUNT", 500)])
            if isinstance(reply, Exception):
                assert reply.code == "UNAVAILABLE"
                unread += 1
                assert run("archive", folder, database).returncode == 1
            else:
                assert read_log(client) == events
        file.write_bytes(whole)
    assert unread >= 4
    assert "are there" in done("archive", folder, database)


def test_an_archive_can_be_killed_at_any_moment_and_goes_on(database, tmp_path):
    folder, dice = tmp_path / "archive", random.Random(3)
    with ten_days_ago(database, tmp_path) as client:
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])
        for number in range(2_000):
            client.pipeline([("CART.ADD", f"c{number}", "kitchen", "tea", 1)])
        events = read_log(client)
    done("backup", folder, database)
    with Server(database=database) as server, server.client() as client:
        for _ in range(10):
            words = [binary(), "archive", folder, "--database", database, "--before", day(1)]
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Whatever it is doing then.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=dice.uniform(0.02, 0.4))
            process.kill()
            process.wait()
            assert client("CART.ADD", f"c{dice.randrange(2_000)}", "kitchen", "tea", 1) >= 1
        done("archive", folder, database, "--before", day(1))
        assert archived(database) == len(events)
        assert read_log(client)[:len(events)] == events
    assert run_tiffin("audit", "--database", database).returncode == 0


def test_an_index_of_streams_that_was_lost_is_filled_from_the_folder(old):
    database, folder, _ = old
    index = "select i from tiffin.stream_index as i where stream is not null order by 1"
    with Server(database=database):
        pass
    done("archive", folder, database, "--before", day(1))
    rows = sql(index, database)
    sql("delete from tiffin.stream_index", database)
    with Server(database=database) as server, server.client() as client:
        assert client("CART.ADD", "c1", "kitchen", "tea", 1) == 4
        client.pipeline([("CART.ADD", f"n{number}", "kitchen", "tea", 1) for number in range(300)])
        wait_until(lambda: set(rows.splitlines()) <= set(sql(index, database).splitlines()), "the index")
    assert run_tiffin("audit", "--database", database).returncode == 0


FALSE_ROWS = {
    "delete from tiffin.stream_index where stream = hashtextextended('cart-c1', 0)":
        "stream_index has no row of 'cart-c1' in the batch from ",
    "insert into tiffin.stream_index values (0, hashtextextended('cart-nobody', 0), 1)":
        "a row of stream_index leads to batch 1, which has nothing of its stream",
    "insert into tiffin.stream_index values (0, hashtextextended('cart-c1', 0), -1)":
        "a row of stream_index leads to batch -1, which has nothing of its stream",
    "update tiffin.batches set only_carts = true where first_position = 1": "says that it holds only carts",
}


def test_an_audit_compares_what_is_said_of_archived_batches_with_the_folder(old):
    database, folder, _ = old
    done("archive", folder, database, "--before", day(1))

    def found():
        audit = run_tiffin("audit", "--database", database)
        return {words for words in FALSE_ROWS.values() if words in audit.stdout}, audit.returncode

    assert found() == (set(), 0)
    expected = set()
    for statement, words in FALSE_ROWS.items():
        sql(statement, database)
        expected.add(words)
        assert found() == (expected, 1), statement


def test_what_cannot_be_archived_is_refused_and_stays(old, tmp_path):
    database, folder, events = old

    def refused(words, *options, of=database, at=folder):
        result = run("archive", at, of, *options)
        assert result.returncode in (1, 64) and words in result.stderr, result.stdout + result.stderr
        assert archived(database) == 0

    for text in (day(0), day(-1), "yesterday", "2026-02-30", "2026-1-1"):
        refused("a day before today", "--before", text)
    refused("make one there first", "--before", day(1), at=tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    with fresh_database() as other:
        with Server(database=other) as server, server.client() as client:
            put_open_outlet(client, "other", [])
            for number in range(50):
                client("OUTLET.CLOSE" if number % 2 else "OUTLET.OPEN", "other")
        refused("has another log", "--before", day(1), of=other)
    tamper("update tiffin.events set payload = payload || ' ' where position = 5", database)
    refused("is damaged, in the database or in the folder", "--before", day(1))


def test_a_folder_that_ends_too_early_is_not_taken_for_the_archive(old, tmp_path):
    database, folder, events = old
    early = tmp_path / "early"
    shutil.copytree(folder, early)
    with ten_days_ago(database, tmp_path) as client:
        client("CART.ADD", "late", "kitchen", "tea", 1)
    # As far as the folder goes.
    assert f": {len(events)} events left" in done("archive", early, database, "--before", day(1))
    done("backup", folder, database)
    assert ": 1 event left" in done("archive", folder, database, "--before", day(1))
    result = run("archive", early, database)
    assert result.returncode == 1 and "are not in the database any more" in result.stderr
    assert f"all {len(events) + 1} events that were archived are there" in done("archive", folder, database)
    # Whoever wants another backup copies the folder.
    result = run("backup", tmp_path / "another", database)
    assert result.returncode == 1 and "Copy that folder" in result.stderr
    shutil.copytree(folder, tmp_path / "copy")
    done("backup", tmp_path / "copy", database)


def test_once_something_was_archived_no_server_of_an_older_version_may_serve(old):
    database, folder, _ = old
    since = "select served_since from tiffin.migrations where name = 'archive'"
    assert sql(since, database) == "33"
    said = done("archive", folder, database, "--before", day(30))
    assert ": 0 events left the database; the next one was recorded at " in said
    assert "no events were archived yet" in done("archive", folder, database)
    assert sql(since, database) == "33"
    done("archive", folder, database, "--before", day(1))
    assert sql(since, database) == "34"


def test_two_at_a_time_do_not_work_on_a_folder(old):
    database, folder, _ = old
    holder = os.open(folder, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    for command in (["backup"], ["archive", "--before", day(1)]):
        result = run(command[0], folder, database, *command[1:])
        assert result.returncode == 1 and "another backup is at work there" in result.stderr
    os.close(holder)
    done("archive", folder, database, "--before", day(1))
