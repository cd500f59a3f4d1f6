"""From a change of a price to its subscribers: `Scripts/bench watch saved`."""

import json
import selectors
import socket
import statistics
import time

from browse import dishes_for
from contestants import Tiffin, load_tiffin
from harness import knows, put_kitchen, tiffin_server
from tiffin import encode

SUBSCRIBERS = 1_000
CHANGES = 40
MESSAGE_SECONDS = 30
# After this long without a message, nothing more is coming. It is longer than a server's pause between messages.
QUIET_SECONDS = 0.2
TARGET_MILLISECONDS = 100


class Audience:
    """Connections subscribed to the same channel, which one thread reads."""

    def __init__(self, port, count, channel):
        self._selector = selectors.DefaultSelector()
        self._buffers = {}
        self.last = b""
        """The last message on any of them."""
        request = encode("SUBSCRIBE", channel)
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port), timeout=MESSAGE_SECONDS)
            connection.sendall(request)
            connection.setblocking(False)
            self._selector.register(connection, selectors.EVENT_READ)
            self._buffers[connection] = bytearray()
        self.hear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for connection in self._buffers:
            connection.close()
        self._selector.close()

    def hear(self):
        """Returns once every connection has another message."""
        waiting = set(self._buffers)
        deadline = time.monotonic() + MESSAGE_SECONDS
        while waiting:
            events = self._selector.select(max(0, deadline - time.monotonic()))
            if not events:
                raise TimeoutError(f"{len(waiting)} of {len(self._buffers)} subscribers received nothing")
            for key, _ in events:
                if self._messages(key.fileobj):
                    waiting.discard(key.fileobj)

    def drain(self):
        """Reads until nothing more comes."""
        deadline = time.monotonic() + MESSAGE_SECONDS
        while events := self._selector.select(QUIET_SECONDS):
            if time.monotonic() > deadline:
                raise TimeoutError("the messages do not end")
            for key, _ in events:
                self._messages(key.fileobj)

    def _messages(self, connection) -> int:
        """Reads what is there. Returns how many messages are complete now."""
        buffer = self._buffers[connection]
        data = connection.recv(1 << 18)
        if not data:
            raise EOFError("the server closed a subscriber's connection")
        buffer += data
        count = 0
        while end := end_of_message(buffer):
            self.last = bytes(buffer[:end])
            del buffer[:end]
            count += 1
        return count


def end_of_message(buffer) -> int:
    """Where the first message ends, 0 if it is not complete: an array of bulk strings and integers, or an error."""
    line = buffer.find(b"\r\n")
    if line < 0:
        return 0
    if buffer[:1] == b"-":
        raise RuntimeError(f"a subscriber was answered {bytes(buffer[:line]).decode()}")
    position = line + 2
    for _ in range(int(buffer[1:line])):
        line = buffer.find(b"\r\n", position)
        if line < 0:
            return 0
        length = int(buffer[position + 1:line]) + 2 if buffer[position:position + 1] == b"$" else 0
        position = line + 2 + max(0, length)
        if position > len(buffer):
            return 0
    return position


def _milliseconds(writer, audience, changes, *, rest) -> list:
    """For each change, the time from sending it until every subscriber has its message.

    With a rest, a change is sent after a pause without messages; without, as soon as everybody has the one before."""
    measured = []
    for change in changes:
        if rest:
            audience.drain()
        request = encode(*change)
        start = time.perf_counter()
        writer.send(request)
        audience.hear()
        measured.append((time.perf_counter() - start) * 1000)
        reply = writer.read()
        if isinstance(reply, Exception):
            raise reply
    return measured


def _measure(report, writer, audience, changes, what):
    """Two changes to warm up, then half of the others with rests and half without."""
    for change in changes[:2]:
        writer(*change)
    audience.drain()
    for how, rest, part in (("one now and then", True, changes[2::2]), ("one upon the other", False, changes[3::2])):
        measured = _milliseconds(writer, audience, part, rest=rest)
        report.line(f"{what}, {how}: median {statistics.median(measured):.1f} ms")
        report.verdict(f"{how}, most", max(measured), TARGET_MILLISECONDS, at_least=False, unit=" ms")


def measure_watch(report, rounds, quick):
    report.title(f"{SUBSCRIBERS:,} subscribers to one home, {CHANGES} changes of a price")
    with tiffin_server() as (server, _), server.client() as writer:
        if not _can_subscribe(server, "home:kitchen"):
            return report.not_measured("watch", "the server has no subscriptions to homes")
        put_kitchen(writer, items=60)
        prices = iter(range(100_000, 200_000, 500))
        changes = [("MENU.ITEM.PRICE", "kitchen", f"dish-{n % 60}", next(prices)) for n in range(CHANGES + 2)]
        with Audience(server.port, SUBSCRIBERS, "home:kitchen") as audience:
            _measure(report, writer, audience, changes, "from the write to the last subscriber's message")
            if str(changes[-1][-1]).encode() not in audience.last.replace(b".", b"").replace(b",", b""):
                report.not_measured("watch", f"the last message does not have the last price: {audience.last[:300]!r}")


def measure_saved(report, rounds, quick):
    dishes = dishes_for(quick)
    report.title(f"A saved query over {dishes.total:,} items, {CHANGES} changes of a price on its page")
    with tiffin_server() as (server, _), server.client() as writer:
        if not knows(writer, ("BROWSE.DROP", "shared:cheapest")) or not knows(writer, ("BROWSE", "LIMIT", "1")):
            return report.not_measured("saved", "the server has no BROWSE.SAVE")
        load_tiffin(writer, dishes)
        writer("BROWSE.SAVE", "shared:cheapest", "SORT", "price")
        pairs = Tiffin.page(json.loads(writer("BROWSE", "SORT", "price", "LIMIT", 20)))
        # Each change makes an item of the page the cheapest of all, so the page's rows and their order change.
        changes = [("MENU.ITEM.PRICE", *pairs[n % len(pairs)], 1_900 - 10 * n) for n in range(CHANGES + 2)]
        with Audience(server.port, 1, "browse:shared:cheapest") as audience:
            _measure(report, writer, audience, changes, "from the write to the message")


def _can_subscribe(server, channel) -> bool:
    with server.client() as client:
        return knows(client, ("SUBSCRIBE", channel))
