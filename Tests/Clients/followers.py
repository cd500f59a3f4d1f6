"""A model subscriber: it keeps documents and brings them up to date by messages alone."""

import json
import select
import time

from edits import canonical, patched
from tiffin import PATIENCE_SECONDS, Push

READ = {"home": "OUTLET.HOME", "cart": "CART.GET"}
REVISION = {"home": "revision", "cart": "version"}
MEMBER = {"home": "outlet", "cart": "cart"}


def message(reply):
    """The channel and the contents of a message."""
    items = reply.items if isinstance(reply, Push) else reply
    assert items[0] == b"message" and len(items) == 3, items
    return items[1].decode(), json.loads(items[2])


class Follower:
    """Follows channels on one connection and reads documents on another."""

    def __init__(self, server, protocol):
        self.client, self.reader = server.client(protocol=protocol), server.client()
        self.documents, self.last, self.messages = {}, {}, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.client.close()
        self.reader.close()

    def follow(self, *channels):
        """Subscribes, and reads each document when the first message has come."""
        self.client.send(b"SUBSCRIBE %s\r\n" % " ".join(channels).encode())
        awaited = set(channels)
        confirmed = 0
        while awaited or confirmed < len(channels):
            reply = self.client.read()
            items = reply.items if isinstance(reply, Push) else reply
            if items[0] == b"subscribe":
                confirmed += 1
                continue
            channel, change = message(reply)
            if channel not in awaited:
                self.take(channel, change)
                continue
            awaited.remove(channel)
            assert change["from"] == change["to"] and change["patch"] == []
            self.last[channel], self.messages[channel] = change["to"], [change]
            self.documents[channel] = self.read_now(channel)

    def read_now(self, channel):
        kind, _, name = channel.partition(":")
        return self.reader.json(READ[kind], name)

    def revision(self, channel):
        document = self.documents[channel]
        return document[REVISION[channel.partition(":")[0]]] if document else 0

    def take(self, channel, change):
        kind, _, name = channel.partition(":")
        assert list(change) == [MEMBER[kind], "from", "to", "patch"] and change[MEMBER[kind]] == name
        assert change["from"] == self.last[channel], "a gap or a repeat"
        assert change["from"] < change["to"] if kind == "home" else change["from"] <= change["to"]
        self.last[channel] = change["to"]
        self.messages[channel].append(change)
        mine = self.revision(channel)
        if change["from"] == mine:
            self.documents[channel] = patched(self.documents[channel], change)
        elif change["to"] == mine and kind == "cart":
            # Its version does not show problems, so nobody knows which of the two is newer.
            self.documents[channel] = self.read_now(channel)
        elif change["to"] > mine:
            # The document was read in the middle of changes that one message reports.
            self.documents[channel] = self.read_now(channel)

    def has_news(self, seconds=0.0):
        return bool(self.client.file.peek(1)) if self._buffered() else bool(
            select.select([self.client.socket], [], [], seconds)[0])

    def _buffered(self):
        # select does not see what has been read from the socket already.
        self.client.socket.setblocking(False)
        try:
            return bool(self.client.file.peek(1))
        except (BlockingIOError, OSError):
            return False
        finally:
            self.client.socket.settimeout(30)

    def take_next(self):
        self.take(*message(self.client.read()))

    def take_until(self, condition, what="the messages"):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"waited {PATIENCE_SECONDS} s for {what}"
            if self.has_news(0.05):
                self.take_next()

    def check(self):
        """Every document becomes equal to a fresh read."""
        for channel in self.documents:
            fresh = canonical(self.read_now(channel))
            self.take_until(lambda: canonical(self.documents[channel]) == fresh, what=f"{channel} to be {fresh}")
        while self.has_news(0.1):
            self.take_next()
        for channel, document in self.documents.items():
            assert canonical(document) == canonical(self.read_now(channel))
