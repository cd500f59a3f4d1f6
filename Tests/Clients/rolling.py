"""An upgrade to another version under load, and back: `rolling.py OLD NEW`, two builds of the server, which
`make worked-changes` makes. The other version has one migration more, which leaves what this one can serve.

Both serve at once, a server of the older version is started again on what the newer one migrated, and in the end the
older one is back alone. Every command that was accepted is in the log once."""

import contextlib
import itertools
import os
import sys
import threading

from tiffin import (
    AWAY, ReplyError, Server, fresh_database, item_document, put_open_outlet, run_tiffin, section_document, wait_until,
)

WRITERS = 4
# As many of an item as a cart takes.
ITEMS = 99
# How many writes of each writer have to be accepted before the next step.
WRITES = 50


@contextlib.contextmanager
def version(path):
    """What is started meanwhile is of this build."""
    before = os.environ.get("TIFFIN_BINARY")
    os.environ["TIFFIN_BINARY"] = path
    try:
        yield
    finally:
        os.environ.pop("TIFFIN_BINARY") if before is None else os.environ.update(TIFFIN_BINARY=before)


class Writer(threading.Thread):
    """Adds a tea at a time to one cart after the other, at whichever server is there, each with an ID until it is
    accepted."""

    def __init__(self, name, servers):
        super().__init__(daemon=True)
        self.name, self.servers, self.accepted, self.error = name, servers, 0, None
        self.ended = threading.Event()

    def run(self):
        try:
            for number in itertools.count():
                if self.ended.is_set():
                    return
                self.add(number)
        except BaseException as error:
            self.error = error

    def add(self, number):
        for attempt in itertools.count(number):
            server = self.servers[attempt % len(self.servers)]
            try:
                with server.client() as client:
                    client("CART.ADD", self.cart(number), "kitchen", "tea", 1, "ID", f"{self.name}-{number}")
                self.accepted += 1
                return
            except ReplyError as error:
                assert error.code in AWAY, error
            except (OSError, EOFError, TypeError):
                # The server is not there just now.
                assert attempt < number + 100_000

    def cart(self, number):
        return f"{self.name}-{number // ITEMS}"


def check(old, new):
    with fresh_database() as url, contextlib.ExitStack() as stack:
        with version(old):
            assert run_tiffin("migrate", "--partitions", 4, "--database", url).returncode == 0
            servers = [stack.enter_context(Server(database=url)) for _ in range(2)]
        with servers[0].client() as client:
            put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])
        writers = [Writer(f"writer{n}", servers) for n in range(WRITERS)]
        for writer in writers:
            writer.start()

        def go_on(what):
            print(what, flush=True)
            goals = [writer.accepted + WRITES for writer in writers]

            def is_done():
                assert not any(writer.error for writer in writers), [writer.error for writer in writers]
                return all(writer.accepted >= goal for writer, goal in zip(writers, goals))
            wait_until(is_done, what)

        def restart(number, build, name):
            assert servers[number].stop() == 0
            with version(build):
                servers[number].start()
            go_on(f"server {number + 1} is of the {name} version")

        go_on("two servers of the older version")
        with version(new):
            run = run_tiffin("migrate", "--database", url)
        assert run.returncode == 0 and " applied" in run.stdout, run
        go_on("the newer version has migrated the database")
        restart(0, new, "newer")
        restart(1, old, "older")
        restart(1, new, "newer")
        restart(0, old, "older")
        restart(1, old, "older")
        for writer in writers:
            writer.ended.set()
        for writer in writers:
            writer.join()
        with servers[0].client() as client:
            for writer in writers:
                carts = {writer.cart(number) for number in range(writer.accepted)}
                assert sum(client("CART.COUNT", cart) for cart in carts) == writer.accepted, writer.name
        for server in servers:
            assert server.stop() == 0
        with version(old):
            run = run_tiffin("audit", "--database", url)
            assert run.returncode == 3 and "which this version of Tiffin does not know" in run.stderr, run
        with version(new):
            # What the older servers did not save follows from the log.
            with Server(database=url) as server:
                assert server.stop() == 0
            run = run_tiffin("audit", "--database", url)
            assert run.returncode == 0, run.stdout
        print(f"{sum(writer.accepted for writer in writers)} writes were accepted, and each is in the log once")


if __name__ == "__main__":
    check(*map(os.path.abspath, sys.argv[1:]))
