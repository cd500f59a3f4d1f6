"""`LOG.READ … WAIT`: reads that wait for what is to come."""

import json
import time

from tiffin import Server, encode, item_document, put_open_outlet, section_document


def head(client) -> int:
    return json.loads(client("LOG.HEAD"))[0]["position"]


def test_a_read_waits_for_the_event_that_somebody_else_writes(server, client, outlet):
    with server.client() as waiting:
        position = head(client)
        waiting.send(encode("LOG.READ", "FROM", position + 1, "WAIT", 20_000) + encode("PING"))
        # Others are served meanwhile.
        assert client("PING") == "PONG"
        assert client("CART.ADD", f"{outlet}-c", outlet, "rice", 2) == 2
        events = [json.loads(event) for event in waiting.read()]
        assert events[0]["position"] == position + 1
        assert waiting.read() == "PONG"


def test_what_is_there_is_answered_at_once(client, outlet):
    began = time.monotonic()
    assert len(client("LOG.READ", "FROM", head(client), "WAIT", 20_000)) >= 1
    assert time.monotonic() - began < 10


def test_a_read_for_which_nothing_comes_is_answered_empty(client):
    beyond = head(client) + 1_000_000
    began = time.monotonic()
    assert client("LOG.READ", "FROM", beyond, "WAIT", 120) == []
    assert time.monotonic() - began >= 0.1
    assert client("LOG.READ", "FROM", beyond, "WAIT", 0) == []
    assert client("LOG.READ", "FROM", 2 ** 63 - 1, "WAIT", 1) == []


def test_so_many_wait_and_the_next_is_told(database):
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", [section_document("lunch", [item_document("rice", 100)])])
        waiting = [server.client() for _ in range(101)]
        try:
            for connection in waiting:
                connection.send(encode("LOG.READ", "FROM", 1_000, "WAIT", 20_000))
            # The 101st is told at once; the others when the server stops.
            assert waiting[-1].read().code == "BUSY"
            began = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - began < 5
            assert {str(connection.read()) for connection in waiting[:100]} == {"UNAVAILABLE nothing was accepted: the server is stopping"}
        finally:
            for connection in waiting:
                connection.close()
