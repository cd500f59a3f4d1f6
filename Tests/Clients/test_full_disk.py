"""A disk that is full: nothing is written, everything can be read, and service returns with the room."""

import contextlib

import pytest

from test_damage import MENU
from tiffin import (
    AWAY, ReplyError, Server, SmallDisk, end_for_lack_of_room, fresh_data_dir, private_address, private_cluster,
    put_open_outlet, read_log, until_served, wait_until)

FULL = "UNAVAILABLE nothing was accepted: the database's disk is full"


@pytest.fixture
def disk():
    with SmallDisk.mounted(megabytes=160) as disk:
        if not disk:
            pytest.skip("no small disk can be mounted")
        yield disk


@contextlib.contextmanager
def filled(disk):
    disk.fill()
    try:
        yield
    finally:
        disk.free()


def check_reads(client, quantity):
    assert client("CART.COUNT", "c") == quantity
    assert client.json("OUTLET.HOME", "kitchen")["sections"]


def test_a_server_whose_disk_is_full_is_read_only_until_there_is_room(disk):
    with fresh_data_dir(disk.path) as folder, contextlib.ExitStack() as stack:
        server = Server(data_dir=folder)
        stack.callback(server.kill)
        with server, server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            assert client("CART.ADD", "c", "kitchen", "tea", 1) == 1
            with filled(disk):
                wait_until(lambda: "writes are refused" in server.output(), "the server to notice")
                assert str(client.error("CART.ADD", "c", "kitchen", "tea", 1)) == FULL
                assert str(client.error("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", "x", "CUSTOMER", "new")) == FULL
                assert b"partition0_trouble:the database's disk is full\r\n" in client("INFO", "log")
                # PostgreSQL runs, and reads from it are answered, too.
                check_reads(client, 1)
                assert len(read_log(client, "STREAM", "cart-c")) == 1
            assert until_served(client, "CART.ADD", "c", "kitchen", "tea", 1) == 2
            assert b"partition0_trouble:none\r\n" in client("INFO", "log")

            with filled(disk):
                end_for_lack_of_room(private_address(folder))
                wait_until(lambda: "started again when there is room" in server.output(), "the end of PostgreSQL")
                assert client.error("CART.ADD", "c", "kitchen", "tea", 1).code in AWAY
                assert str(client.error("CART.ADD", "c", "kitchen", "tea", 1)) == FULL
                check_reads(client, 2)
            assert until_served(client, "CART.ADD", "c", "kitchen", "tea", 1) == 3
            check_reads(client, 3)

        with filled(disk):
            server.launch()
            assert server.wait_until_ended() == 1
            server.wait_for_output("PostgreSQL did not start, because its disk is full")
        with server, server.client() as client:
            check_reads(client, 3)
            assert client("CART.ADD", "c", "kitchen", "tea", 1) == 4


def test_a_database_that_runs_and_has_no_room_refuses_writes_and_nothing_else(disk):
    with private_cluster(disk.path) as (database, _, _), Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        accepted = 0
        with filled(disk):
            # Until the last page of the table has no room.
            while not isinstance(reply := client.pipeline([("CART.ADD", "c", "kitchen", "tea", 1)])[0], ReplyError):
                accepted += 1
            assert str(reply) == FULL
            check_reads(client, accepted)
            assert len(read_log(client, "STREAM", "cart-c")) == accepted
            wait_until(lambda: "SQLSTATE 53100" in server.output(), "the details in the log")
        assert until_served(client, "CART.ADD", "c", "kitchen", "tea", 1) == accepted + 1
