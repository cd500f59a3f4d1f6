"""More carts than a server holds in memory."""

import random

import pytest

from test_rebuild import assert_sound, load, wait_for_checkpoint
from tiffin import Server, sql, wait_until

CARTS = 400
HELD = 20


def server_on(database):
    return Server(database=database, options=["--carts-in-memory", str(HELD)])


def rows_in_memory(client):
    line = next(line for line in client("INFO", "projections").decode().splitlines() if "_cart_counts:" in line)
    return int(line.split("rows=")[1].split(",")[0])


def wait_until_known(client):
    wait_until(lambda: b"carts:known=yes" in client("INFO", "projections"), "carts to be known")


class Carts:
    """What is in carts, by what was answered."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.counts = {}

    def write(self, client, times):
        for _ in range(times):
            cart = f"many-{self.random.randrange(CARTS)}"
            if self.random.random() < 0.1 and self.counts.get(cart):
                client("CART.CLEAR", cart)
                self.counts[cart] = 0
            else:
                self.counts[cart] = client("CART.ADD", cart, "kitchen", f"dish-{self.random.randrange(4)}", 1)

    def check(self, client):
        carts = [f"many-{number}" for number in range(CARTS)] + ["never"]
        self.random.shuffle(carts)
        answers = client.pipeline(("CART.COUNT", cart) for cart in carts)
        assert answers == [self.counts.get(cart, 0) for cart in carts]


def test_every_count_is_right_however_few_carts_are_held(database):
    carts = Carts(0)
    server = server_on(database)
    for start in range(4):
        server.start()
        with server.client() as client:
            if start == 0:
                load(server)
            # Both before and after it is known which carts there are.
            carts.check(client)
            carts.write(client, 100)
            carts.check(client)
            wait_until_known(client)
            carts.check(client)
            carts.write(client, 200)
            carts.check(client)
            if start % 2:
                wait_for_checkpoint(database)
                carts.check(client)
                assert rows_in_memory(client) <= HELD
                carts.write(client, 50)
        server.kill()
    with server, server.client() as client:
        carts.check(client)
        wait_for_checkpoint(database)
        wait_until_known(client)
        assert_sound(database, "--server", f"127.0.0.1:{server.port}")
        for word in ("not what the log has", "rebuilt", "folding the log again"):
            assert word not in server.output()


@pytest.mark.parametrize("what", ["alter", "delete"])
@pytest.mark.parametrize("moment", ["running", "at start"])
def test_a_damaged_row_is_found_and_the_log_decides(database, what, moment):
    carts = Carts(1)
    damage = {
        "alter": "update tiffin.cart_count_rows set version = version + 7 where cart in ('many-1', 'many-2')",
        "delete": "delete from tiffin.cart_count_rows where cart in ('many-1', 'many-2')",
    }[what]
    server = server_on(database)
    with server, server.client() as client:
        load(server)
        carts.write(client, 3 * CARTS)
        wait_for_checkpoint(database)
        if moment == "running":
            sql(damage, database)
            assert rows_in_memory(client) <= HELD
        else:
            server.stop()
            sql(damage, database)
            server.start()
        with server.client() as other:
            carts.check(other)
            for cart in ("many-1", "many-2"):
                carts.counts[cart] = other("CART.ADD", cart, "kitchen", "dish-0", 1)
            carts.check(other)
            # Who serves it, served others meanwhile, and saves right rows.
            said = "not what the log has" if moment == "running" else "they are rebuilt"
            server.wait_for_output(said)
            wait_for_checkpoint(database)
            carts.check(other)
            assert_sound(database, "--server", f"127.0.0.1:{server.port}")
