"""A backup to a folder: whole, as of one moment, taken while clients write, killed and gone on with, and restored."""

import contextlib
import json
import random
import shutil
import subprocess
import threading

import pytest

from test_receipts import verify
from tiffin import (
    Server, binary, fresh_database, item_document, put_open_outlet, read_log, run_tiffin, section_document, sql)


def backup(database, folder):
    run = run_tiffin("backup", folder, "--database", database)
    assert run.returncode == 0, run.stderr
    return run.stdout


def restore(database, folder, *options):
    return run_tiffin("restore", folder, "--database", database, *options)


def open_kitchen(client):
    put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])


def rows(table, database):
    return sql(f"select to_jsonb(t) from tiffin.{table} as t order by 1", database)


@pytest.fixture
def kept(database, tmp_path):
    """A database with a bit of everything, its folder, and its log."""
    folder = tmp_path / "backup"
    with Server(database=database, environment={"TIFFIN_CONSOLE": "127.0.0.1:0"}) as server, server.client() as client:
        open_kitchen(client)
        for customer in ("anna", "bert"):
            client("CART.ADD", f"{customer}-1", "kitchen", "tea", 1, "CUSTOMER", customer, "NOTE", f"for {customer}")
        client("CART.CHECKOUT", "anna-1", "CUSTOMER", "anna", "NAME", "Anna", "TOTAL", 100)
        events = read_log(client)
    assert run_tiffin("relay", "--show-secret", "--database", database).returncode == 0
    sql("insert into tiffin.relay_deliveries (relay, partition, position, stream, event, attempts, refusals, answer, tried_at) "
        "values ('default', 0, 1, 'cart-c', 'cart-c@1', 2, 1, 'nö', now())", database)
    return database, folder, events


def test_everything_is_restored_and_what_was_written_since_is_not(kept):
    database, folder, events = kept
    said = backup(database, folder)
    with Server(database=database) as server, server.client() as client:
        receipt = client("LOG.PROVE", "cart-anna-1", 1).decode()
        client("CART.ADD", "late", "kitchen", "tea", 1)
    with fresh_database() as other:
        run = restore(other, folder, "--verify")
        assert run.returncode == 0 and "sound" in run.stdout, run.stdout + run.stderr
        for table in ("batches", "customer_keys", "users", "relays", "relay_cursors", "relay_deliveries", "user_revision"):
            expected = [row for row in rows(table, database).splitlines() if "cart-late" not in row]
            assert rows(table, other).splitlines() == expected, table
        with Server(database=other) as server, server.client() as client:
            log = read_log(client)
            # A relay was made after the log was read, and that is recorded.
            assert log[:len(events)] == events and f"{len(log)} events" in said
            assert client.json("CART.GET", "bert-1")["lines"][0]["note"] == "for bert"
            assert client("CART.COUNT", "late") == 0
            anchor = json.loads((folder / "anchors.jsonl").read_text())
            assert verify("-", "--anchor", folder / "anchors.jsonl", text=receipt).returncode == 0
            assert client.json("LOG.TREE", 0, "HEAD", anchor["position"])["root"] == anchor["root"]
            assert client("CART.ADD", "new", "kitchen", "tea", 1) == 1
        assert run_tiffin("audit", "--database", other, "--anchor", folder / "anchors.jsonl").returncode == 0
        assert "restored into a new one" in restore(other, folder).stderr


def test_a_backup_beside_writers_can_be_killed_at_any_moment_and_goes_on(database, tmp_path):
    folder, stop = tmp_path / "backup", threading.Event()
    with Server(database=database) as server:
        with server.client() as client:
            open_kitchen(client)

        def write(number):
            with server.client() as client:
                while not stop.is_set():
                    client.pipeline([("CART.ADD", f"c{number}-{random.randrange(50)}", "kitchen", "tea", 1)] * 20)

        writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for writer in writers:
            writer.start()
        dice = random.Random(7)
        try:
            for _ in range(12):
                process = subprocess.Popen([binary(), "backup", folder, "--database", database],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                # Whatever it is doing then.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=dice.uniform(0.01, 0.15))
                process.kill()
                process.wait()
            said = backup(database, folder)
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        with server.client() as client:
            events = read_log(client)
    count = int(said.split(": ")[1].split()[0])
    assert 0 < count <= len(events)
    with fresh_database() as other:
        assert restore(other, folder, "--verify").returncode == 0
        with Server(database=other) as server, server.client() as client:
            assert read_log(client) == events[:count]


def test_who_was_forgotten_stays_forgotten(kept, tmp_path):
    database, folder, _ = kept
    backup(database, folder)
    old = tmp_path / "old"
    shutil.copytree(folder, old)
    assert run_tiffin("forget", "anna", "--database", database).returncode == 0
    key = "select count(*) from tiffin.customer_keys where key is not null and customer = 'anna'"
    # The next backup has her key no more, in no file.
    secret = sql("select encode(key, 'hex') from tiffin.customer_keys where customer = 'bert'", database)
    backup(database, folder)
    texts = [path.read_text() for path in folder.rglob("*.jsonl")]
    assert sum(secret in text for text in texts) == 1
    with fresh_database() as other:
        assert restore(other, folder).returncode == 0
        assert sql(key, other) == "0"
    # An older copy is told who was forgotten since.
    names = tmp_path / "forgotten"
    names.write_text("anna\n")
    with fresh_database() as other:
        run = restore(other, old, "--forget", names, "--verify")
        assert run.returncode == 0, run.stdout + run.stderr
        assert sql(key, other) == "0"
        with Server(database=other) as server, server.client() as client:
            assert client.json("CART.GET", "bert-1")["lines"][0]["note"] == "for bert"
            [order] = client.json("ORDERS", "CUSTOMER", "anna")["orders"]
            assert client.json("ORDER.GET", order["order"])["name"] == "[erased]"


def test_a_damaged_folder_restores_nothing_and_names_the_file(kept):
    database, folder, _ = kept
    backup(database, folder)
    for path in sorted(folder.rglob("*.jsonl")):
        if path.name == "anchors.jsonl":
            continue
        whole = path.read_bytes()
        for damaged in (whole[:-10], bytes([whole[0] ^ 1]) + whole[1:], b"", None):
            if damaged is None:
                path.unlink()
            else:
                path.write_bytes(damaged)
            with fresh_database() as other:
                run = restore(other, folder)
                assert run.returncode == 1 and path.name in run.stderr and not run.stdout, run.stderr
                assert sql("select count(*) from tiffin.batches", other) == "0"
            path.write_bytes(whole)
    with fresh_database() as other:
        assert restore(other, folder).returncode == 0


@pytest.mark.parametrize("change, words", [
    (lambda listed: "rubbish", "is not the list of a backup"),
    (lambda listed: {**listed, "backup": 2}, "is not the list of a backup"),
    (lambda listed: {**listed, "partitions": 0}, "says what no backup can"),
    (lambda listed: {**listed, "partitions": 9999999}, "says what no backup can"),
    (lambda listed: {**listed, "moment": None}, "has no backup that is whole"),
    (lambda listed: {**listed, "migration": 1}, "is of migration 1"),
    (lambda listed: {**listed, "batches": []}, "should at"),
    (lambda listed: {**listed, "placement": "rubbish"}, "placement"),
    (lambda listed: {**listed, "moment": {**listed["moment"], "tables": [
        {**listed["moment"]["tables"][0], "table": "batches; drop schema tiffin cascade; --"}]}}, "says what no backup can"),
    (lambda listed: {**listed, "moment": {**listed["moment"], "ends": [
        {**listed["moment"]["ends"][0], "epoch": 2**63 - 1}]}}, "says what no backup can"),
    (lambda listed: {**listed, "moment": {**listed["moment"], "ends": [
        {**listed["moment"]["ends"][0], "position": -5}]}}, "should at"),
])
def test_a_list_that_says_what_it_cannot_is_refused(kept, change, words):
    database, folder, _ = kept
    backup(database, folder)
    path = folder / "backup.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with fresh_database() as other:
        run = restore(other, folder)
        assert run.returncode == 1 and words in run.stderr, run.stderr
        if run_tiffin("migrate", "--database", other).returncode == 0:
            assert sql("select count(*) from tiffin.batches", other) == "0"


def test_a_folder_goes_on_after_an_upgrade_and_not_after_the_way_back(kept):
    database, folder, _ = kept
    backup(database, folder)
    path = folder / "backup.json"
    listed = json.loads(path.read_text())
    path.write_text(json.dumps({**listed, "migration": listed["migration"] - 1}))
    assert "of which 0 are new" in backup(database, folder)
    assert json.loads(path.read_text())["migration"] == listed["migration"]
    with fresh_database() as other:
        assert restore(other, folder, "--verify").returncode == 0
    path.write_text(json.dumps({**listed, "migration": listed["migration"] + 1}))
    run = run_tiffin("backup", folder, "--database", database)
    assert run.returncode == 1 and "begin another" in run.stderr


def test_no_folder_takes_what_does_not_go_on_from_it(kept):
    database, folder, _ = kept
    backup(database, folder)
    with fresh_database() as other:
        with Server(database=other) as server, server.client() as client:
            open_kitchen(client)
            for _ in range(20):
                client("CART.ADD", "c", "kitchen", "tea", 1)
        run = run_tiffin("backup", folder, "--database", other)
        assert run.returncode == 1 and "begin another folder" in run.stderr
