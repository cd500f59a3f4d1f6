"""What TLS costs, here and in Redis: `Scripts/bench tls`."""

import contextlib
import socket
import statistics
import subprocess
import tempfile

from costs import processor_seconds
from harness import (
    checked, fresh_database, per_second, put_kitchen, ratios, redis_benchmark, resident_megabytes, rounds_in_turn,
)

# Found once `harness` has said where the client tests lie.
from certificates import Certificates
from tiffin import Client, Server, wait_until

CONNECTIONS = 50
# A line takes at most 99 of an item, and with nine rounds each cart is added to some 54 times.
CARTS = 25_000
IDLE = 1_000
AIM = 0.7
# About 20 KB: two records.
HOME_ITEMS = 60


@contextlib.contextmanager
def redis_of_both(certificates):
    """A private Redis that forgets everything: its ports, plain and with TLS."""
    with tempfile.TemporaryDirectory(prefix="tiffin-redis.") as folder, socket.socket() as one, socket.socket() as two:
        for free in (one, two):
            free.bind(("127.0.0.1", 0))
        ports = [free.getsockname()[1] for free in (one, two)]
        one.close()
        two.close()
        process = subprocess.Popen(
            ["redis-server", "--port", str(ports[0]), "--tls-port", str(ports[1]), "--bind", "127.0.0.1", "--save", "",
             "--dir", folder, "--tls-cert-file", certificates.file("server"), "--tls-key-file",
             certificates.key("server"), "--tls-ca-cert-file", certificates.file("ca"), "--tls-auth-clients", "no"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def answers():
            if process.poll() is not None:
                raise RuntimeError("redis-server did not start; perhaps it was built without TLS")
            with contextlib.suppress(OSError), Client(ports[0]) as client:
                return client("PING")

        try:
            wait_until(answers, "redis-server")
            yield ports
        finally:
            process.terminate()
            process.wait(timeout=30)


def kilobytes_of_a_client(server, tls) -> float:
    """What a client that is connected and silent costs the server."""
    with contextlib.ExitStack() as clients:
        def connect(count):
            for _ in range(count):
                clients.enter_context(server.client(tls=tls))("PING")

        connect(IDLE // 10)
        before = resident_megabytes(server.process.pid)
        connect(IDLE)
        return (resident_megabytes(server.process.pid) - before) * 1024 / IDLE


def measure_tls(report, rounds, quick):
    report.title(f"With TLS to without, {CONNECTIONS} connections, TLS 1.3 and a P-256 key on both sides")
    rows = [("", "Tiffin plain", "Tiffin TLS", "ratio", "least–most", "Redis plain", "Redis TLS", "ratio")]
    costs = [("µs of the server's processor a request", "plain", "TLS", "ratio")]
    verdicts = []
    with contextlib.ExitStack() as stack:
        certificates = Certificates(stack.enter_context(tempfile.TemporaryDirectory(prefix="tiffin-tls."))).sign("server")
        tls = certificates.context()
        plain = stack.enter_context(Server(database=stack.enter_context(fresh_database())))
        secure = stack.enter_context(
            Server(database=stack.enter_context(fresh_database()), options=certificates.options("server")))
        redis = stack.enter_context(redis_of_both(certificates))
        for client in (plain.client(), secure.client(tls=tls)):
            with client:
                put_kitchen(client)
                put_kitchen(client, "home", HOME_ITEMS)
                checked(client.pipeline(("CART.ADD", f"cart-{n:012}", "kitchen", "dish-0", 3) for n in range(CARTS)))
                size = len(client("OUTLET.HOME", "home"))
        with Client(redis[0]) as peer:
            checked(peer.pipeline(("SET", f"cart-{n:012}", 3) for n in range(CARTS)))
            peer("SET", "home", "x" * size)
        cart = "cart-__rand_int__"
        with_tls = ["--tls", "--cacert", certificates.file("ca")]
        for name, ours, theirs, keys, pipeline, plenty in [
            ("CART.ADD", ["CART.ADD", cart, "kitchen", "dish-0", "1"], ["SET", cart, "3"], CARTS, 1, 150_000),
            ("CART.COUNT", ["CART.COUNT", cart], ["GET", cart], CARTS, 1, 300_000),
            ("CART.COUNT, pipeline of 16", ["CART.COUNT", cart], ["GET", cart], CARTS, 16, 1_500_000),
            (f"OUTLET.HOME of {size:,} bytes", ["OUTLET.HOME", "home"], ["GET", "home"], None, 1, 100_000),
        ]:
            requests = plenty // (10 if quick else 1)

            spent = {plain: [], secure: []}

            def load(port, command, options=()):
                return lambda: redis_benchmark(port, requests, CONNECTIONS, pipeline, command, keys, options)

            def watched(server, options=()):
                before = processor_seconds(server.process.pid)
                result = load(server.port, ours, options)()
                spent[server].append((processor_seconds(server.process.pid) - before) / requests * 1e6)
                return result

            rates = rounds_in_turn(rounds, {
                "plain": lambda: watched(plain), "tls": lambda: watched(secure, with_tls),
                "peer": load(redis[0], theirs), "peer tls": load(redis[1], theirs, with_tls),
            })
            (ratio, spread), (peers, _) = ratios(rates["tls"], rates["plain"]), ratios(rates["peer tls"], rates["peer"])
            plain_rate, tls_rate, *peer_rates = (per_second(statistics.median(measured)) for measured in rates.values())
            rows.append((name, plain_rate, tls_rate, f"{ratio:.2f}", spread, *peer_rates, f"{peers:.2f}"))
            plain_cost, tls_cost = statistics.median(spent[plain]), statistics.median(spent[secure])
            costs.append((name, f"{plain_cost:.1f}", f"{tls_cost:.1f}", f"{plain_cost / tls_cost:.2f}"))
            verdicts.append((name, ratio, AIM))
        silent = kilobytes_of_a_client(plain, None), kilobytes_of_a_client(secure, tls)
    report.table(rows)
    report.line()
    report.table(costs)
    report.line()
    for verdict in verdicts:
        report.verdict(*verdict)
    report.line(f"  a silent client takes {silent[1]:.0f} KB of the server's memory, without TLS {silent[0]:.0f} KB")
