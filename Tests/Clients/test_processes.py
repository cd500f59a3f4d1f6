"""Several server processes on one machine, as `serve --processes` runs them."""

import contextlib
import os
import signal
import socket

import pytest
import redis.cluster

from tiffin import Client, Server, put_open_outlet, run_tiffin, wait_until

COUNT, STEP = 2, 10
MENU = [{"id": "dishes", "title": "Dishes", "kind": "menuItems", "items": [
    {"id": "dish", "kind": "menuItem", "name": "Dish", "price": 101}]}]


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0


def free_port():
    """A port, with those of the processes behind it."""
    for _ in range(100):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port + STEP * COUNT < 65_536 and all(is_free(port + STEP * number) for number in range(COUNT + 1)):
            return port
    raise RuntimeError("no free ports")


def own_ports(port):
    return [port + STEP * number for number in range(1, COUNT + 1)]


def processes(port, **options):
    return Server(options=["--listen", f"127.0.0.1:{port}", "--processes", str(COUNT)], **options)


def wait_until_all_serve(server, port):
    server.wait_for_output(f"{COUNT} processes listen on 127.0.0.1:{port}")
    server.port = port
    wait_until(
        lambda: all(fact(own, "servers") == str(COUNT) for own in own_ports(port)), "the processes to know each other")


def fact(port, name):
    with Client(port) as client:
        facts = dict(line.split(":", 1) for line in client("INFO").decode().splitlines() if ":" in line)
        return facts[name]


@pytest.fixture
def several(database):
    port = free_port()
    with processes(port, database=database) as server:
        wait_until_all_serve(server, port)
        with server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
        yield server


def test_one_port_leads_to_all_processes_and_each_has_its_own(several):
    own = own_ports(several.port)
    reached = set()
    for number in range(60):
        with several.client() as client:
            reached.add(int(fact_of(client, "tcp_port")))
            assert client("CART.ADD", f"cart-{number}", "kitchen", "dish", 1) == 1
    assert reached == set(own)
    for port in own:
        with Client(port) as client:
            assert [client("CART.COUNT", f"cart-{number}") for number in range(60)] == [1] * 60
    assert int(fact(own[0], "partitions")) == 64
    cluster = redis.cluster.RedisCluster(host="127.0.0.1", port=several.port)
    with contextlib.closing(cluster):
        assert sorted(node.port for node in cluster.get_nodes()) == own
        for number in range(60):
            assert cluster.execute_command("CART.ADD", f"cart-{number}", "kitchen", "dish", 1) == 2


def fact_of(client, name):
    return dict(line.split(":", 1) for line in client("INFO", "server").decode().splitlines() if ":" in line)[name]


def test_a_process_that_is_killed_is_replaced_and_nothing_is_lost(several):
    first, second = own_ports(several.port)
    for number in range(20):
        with several.client() as client:
            client("CART.ADD", f"cart-{number}", "kitchen", "dish", 1)
    process = int(fact(first, "process_id"))
    os.kill(process, signal.SIGKILL)

    def is_replaced():
        with contextlib.suppress(OSError):
            return int(fact(first, "process_id")) != process

    with Client(second) as client:
        assert [client("CART.ADD", f"cart-{number}", "kitchen", "dish", 1, "ID", f"again-{number}") for number in range(20)] == [2] * 20
        wait_until(is_replaced, "the process to be replaced")
    with Client(first) as client:
        assert [client("CART.COUNT", f"cart-{number}") for number in range(20)] == [2] * 20
    several.wait_for_output("process 1 ended: signal 9; starting another")


def test_they_end_with_what_started_them_however_it_ends(data_dir):
    port = free_port()
    for end in [signal.SIGTERM, signal.SIGKILL, signal.SIGINT]:
        server = processes(port, data_dir=data_dir).start()
        wait_until_all_serve(server, port)
        with server.client() as client:
            if end == signal.SIGTERM:
                put_open_outlet(client, "kitchen", MENU)
            client("CART.ADD", f"cart-{end}", "kitchen", "dish", 1)
        if end == signal.SIGKILL:
            server.kill()
        else:
            assert server.stop(end) == 0, server.output()
        wait_until(lambda: all(map(is_free, [port, *own_ports(port)])), "the processes to end")
    run = run_tiffin("audit", "--data-dir", data_dir)
    assert run.returncode == 0, run.stdout


def test_each_process_needs_a_port(database):
    port = free_port()
    for listen, words in [("127.0.0.1:0", "--listen needs a port"), ("127.0.0.1:65530", "one of its own for each process")]:
        run = run_tiffin("serve", "--database", database, "--listen", listen, "--processes", "2")
        assert (run.returncode, words in run.stderr) == (64, True), run
    for count in ["0", "65", "many", "-1"]:
        run = run_tiffin("serve", "--database", database, "--processes", count)
        assert (run.returncode, "--processes" in run.stderr) == (64, True), run
    with socket.create_server(("127.0.0.1", port + 2 * STEP)):
        run = run_tiffin("serve", "--database", database, "--listen", f"127.0.0.1:{port}", "--processes", "2")
        assert (run.returncode, "EADDRINUSE" in run.stdout + run.stderr) == (1, True), run


def test_what_keeps_a_process_from_starting_ends_all(database, tmp_path):
    (tmp_path / "cert.pem").write_text("no certificate")
    (tmp_path / "key.pem").write_text("no key")
    run = run_tiffin(
        "serve", "--database", database, "--listen", f"127.0.0.1:{free_port()}", "--processes", "2", "--web", "off",
        "--console", "off", "--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))
    assert run.returncode == 64 or run.returncode == 1, run
    run = run_tiffin(
        "serve", "--database", "postgres:///nowhere?host=/nowhere", "--listen", f"127.0.0.1:{free_port()}", "--processes", "2",
        "--web", "off", "--console", "off")
    assert run.returncode == 1 and "/nowhere" in run.stdout + run.stderr, run
