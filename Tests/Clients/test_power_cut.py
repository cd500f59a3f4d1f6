"""The forgetful disk forgets what it should, and nothing that is acknowledged is lost with it."""

import os
import re
from pathlib import Path

import pytest

import powercuts
from forgetful import ForgetfulDisk
from tiffin import Server, fresh_data_dir, put_open_outlet
from trials import Failure
from writers import MENU

REASON = ForgetfulDisk.reason_without()
needs_disk = pytest.mark.skipif(bool(REASON), reason=str(REASON))


@pytest.fixture
def disk():
    with ForgetfulDisk.mounted() as disk:
        yield disk


def write(disk, name, data, *, sync=True, flags=0, at=0):
    file = os.open(os.path.join(disk.path, name), os.O_RDWR | os.O_CREAT | flags, 0o644)
    try:
        os.pwrite(file, data, at)
        if sync:
            os.fsync(file)
    finally:
        os.close(file)


def sync(disk, folder="."):
    file = os.open(os.path.join(disk.path, folder), os.O_RDONLY)
    os.fsync(file)
    os.close(file)


def contents(disk):
    """All files by their paths."""
    found = {}
    for folder, _, names in os.walk(disk.path):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, disk.path)] = file.read()
    return found


def cut(disk, keep="nothing", seed=0):
    disk.lose_power(keep, seed)
    with pytest.raises(OSError, match="Input/output error"):
        os.listdir(disk.path)
    disk.restore_power()


@needs_disk
def test_a_disk_keeps_what_was_synced_and_forgets_the_rest(disk):
    os.mkdir(f"{disk.path}/a")
    write(disk, "a/synced", b"1" * 10_000)
    write(disk, "a/opened for that", b"2", sync=False, flags=os.O_DSYNC)
    write(disk, "a/written", b"3", sync=False)
    write(disk, "a/synced", b"4" * 100, sync=False, at=9_950)
    cut(disk)
    kept = {"a/synced": b"1" * 10_000, "a/opened for that": b"2"}
    assert contents(disk) == kept
    assert (disk.changes() > 8, disk.has_power()) == (True, True)
    # A name of a file that has one needs a sync of its directory.
    os.rename(f"{disk.path}/a/synced", f"{disk.path}/a/renamed")
    write(disk, "a/renamed", b"5", at=10_000)
    cut(disk)
    assert contents(disk) == {**kept, "a/synced": b"1" * 10_000 + b"5"}
    os.rename(f"{disk.path}/a/synced", f"{disk.path}/a/renamed")
    os.unlink(f"{disk.path}/a/opened for that")
    sync(disk, "a")
    cut(disk)
    assert contents(disk) == {"a/renamed": b"1" * 10_000 + b"5"}


@needs_disk
def test_a_disk_keeps_some_pages_and_a_part_of_others(disk):
    write(disk, "f", b"o" * (1 << 20))
    states = set()
    for seed in range(20):
        write(disk, "f", b"n" * (1 << 20), sync=False)
        os.rename(f"{disk.path}/f", f"{disk.path}/g")
        cut(disk, "some", seed)
        (name, data), = contents(disk).items()
        sectors = [data[place:place + 512] for place in range(0, 1 << 20, 512)]
        assert set(sectors) <= {b"o" * 512, b"n" * 512}
        pages = {b"".join(sectors[place:place + 8]) for place in range(0, len(sectors), 8)}
        states.add((name, "o" * 4096 in str(pages), "n" * 4096 in str(pages), len(pages) > 2))
        os.rename(f"{disk.path}/{name}", f"{disk.path}/f")
        write(disk, "f", b"o" * (1 << 20))
        sync(disk)
    # Old alone, or old, new and torn ones; under the old name or the new one.
    assert len(states) > 3 and {name for name, *_ in states} == {"f", "g"}
    seeds = [contents_after(disk, 7), contents_after(disk, 7), contents_after(disk, 8)]
    assert seeds[0] == seeds[1] != seeds[2]


def contents_after(disk, seed):
    for name in ("f", "g"):
        write(disk, name, b"o" * (1 << 18))
        write(disk, name, b"n" * (1 << 18), sync=False)
    cut(disk, "some", seed)
    return contents(disk)


def test_a_private_postgres_starts_on_a_lock_that_was_never_written():
    with fresh_data_dir() as folder:
        server = Server(data_dir=folder)
        with server, server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
        for words in (b"", bytes(80)):
            lock = Path(folder, "postgres", "postmaster.pid")
            lock.write_bytes(words)
            owner = lock.parent.stat()
            os.chown(lock, owner.st_uid, owner.st_gid)
            with server, server.client() as client:
                assert client.json("OUTLET.HOME", "kitchen")["sections"]


@needs_disk
def test_what_was_acknowledged_outlives_power_cuts():
    # One of each: a cluster on this disk takes five seconds.
    private = [name for name, (stage, _) in powercuts.CUTS.items() if stage is not powercuts.Own]
    results = powercuts.run(len(private), seed=2026, cuts=private)
    assert sum(result.acknowledged for result in results) > 100


@needs_disk
def test_a_database_that_does_not_sync_is_found_out():
    with pytest.raises((Failure, RuntimeError)) as found:
        powercuts.run(10, seed=1, cuts=["under load, own"], own=powercuts.Careless)
    assert re.search("acknowledged and not in the log|PANIC|FATAL|position", f"{found.value}{found.value.__notes__}")
