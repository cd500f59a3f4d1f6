"""TLS with real clients: trust, client certificates, reloading, and those who come with something else."""

import contextlib
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from certificates import Certificates
from monkeys import SHORT, SMALL
from tiffin import (
    PATIENCE_SECONDS, Server, encode, fresh_database, item_document, private_cluster, put_open_outlet, run_tiffin,
    section_document, sql, wait_until,
)



@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    made = Certificates(tmp_path_factory.mktemp("certificates"))
    made.sign("server").sign("client", names="DNS:client").sign("stranger", authority="other-ca", names="DNS:client")
    return made.sign("elsewhere", names="DNS:tiffin.example").sign("old", days=-1)


@pytest.fixture(scope="session")
def tls_server(certificates):
    with fresh_database() as url, Server(
            database=url, options=["--log-level", "debug", *certificates.options("server")]) as server:
        yield server


@pytest.fixture
def ca(certificates):
    return certificates.file("ca")


def redis_cli(server, *arguments):
    return subprocess.run(
        ["redis-cli", "-p", str(server.port), *arguments], capture_output=True, text=True, timeout=PATIENCE_SECONDS)


def address(server):
    return f"127.0.0.1:{server.port}"


# --- clients


def test_redis_cli_talks_tls(tls_server, certificates, ca):
    trusting = redis_cli(tls_server, "--tls", "--cacert", ca, "CART.COUNT", "never-seen")
    assert (trusting.stdout, trusting.stderr, trusting.returncode) == ("0\n", "", 0)
    other = redis_cli(tls_server, "--tls", "--cacert", certificates.file("other-ca"), "PING")
    assert other.returncode != 0 and "certificate verify failed" in other.stderr, other


@pytest.mark.parametrize("protocol", [2, 3])
def test_redis_py_talks_tls(tls_server, ca, protocol):
    with redis.Redis(port=tls_server.port, host="localhost", ssl=True, ssl_ca_certs=ca, ssl_check_hostname=True,
                     protocol=protocol) as client:
        assert client.ping()
        # More than a record, and more than a read.
        for size in (1, 16_384, 16_385, 60_000):
            assert client.execute_command("ECHO", "x" * size) == b"x" * size
        pipeline = client.pipeline(transaction=False)
        for _ in range(1_000):
            pipeline.execute_command("CART.COUNT", "never-seen")
        assert pipeline.execute() == [0] * 1_000


def test_a_cluster_of_one_has_a_port_for_tls(tls_server, certificates, ca):
    with tls_server.client(protocol=3, tls=certificates.context()) as client:
        [shard] = client("CLUSTER", "SHARDS")
        assert shard[b"nodes"][0][b"tls-port"] == tls_server.port and b"port" not in shard[b"nodes"][0]
    with redis.RedisCluster(
            port=tls_server.port, host="localhost", ssl=True, ssl_ca_certs=ca, ssl_check_hostname=True) as cluster:
        assert cluster.execute_command("CART.COUNT", "never-seen") == 0


def test_redis_py_trusts_only_its_authority(tls_server, certificates):
    once = Retry(NoBackoff(), 0)
    with redis.Redis(port=tls_server.port, ssl=True, ssl_ca_certs=certificates.file("other-ca"), retry=once) as client:
        with pytest.raises(redis.ConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
            client.ping()


def test_old_versions_are_not_spoken(tls_server, certificates):
    context = certificates.context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError, match="PROTOCOL_VERSION"):
        tls_server.client(tls=context)


@pytest.mark.parametrize(("version", "spoken"), [
    (ssl.TLSVersion.TLSv1_2, "TLSv1.2"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3")])
def test_sessions_of_both_versions_are_resumed(tls_server, certificates, version, spoken):
    context = certificates.context()
    context.minimum_version = context.maximum_version = version
    with tls_server.client(tls=context) as client:
        assert client.socket.version() == spoken
        assert client("PING") == "PONG"
        session = client.socket.session
    with socket.create_connection(("127.0.0.1", tls_server.port), timeout=PATIENCE_SECONDS) as plain:
        with context.wrap_socket(plain, server_hostname="127.0.0.1", session=session) as again:
            assert again.session_reused


def test_programs_of_ours_talk_tls(database, certificates, ca, monkey, tmp_path):
    options = certificates.options("server", tls_client_ca=ca)
    ours = ["--tls", "--tls-ca", ca, "--tls-cert", certificates.file("client"), "--tls-key", certificates.key("client")]
    with Server(database=database, options=options) as server, server.client(
            tls=certificates.context("client")) as client:
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 695)])])
        client("CART.ADD", "c", "kitchen", "tea", 2)
        there = ["--server", address(server)]
        menu = tmp_path / "menu.json"
        menu.write_bytes(client("MENU.GET", "kitchen"))
        for command, failure in (
            (["why", "cart", "c"], 1), (["import", "menu", menu, "--outlet", "kitchen"], 6),
            (["audit", "--database", database], 3),
        ):
            run = run_tiffin(*command, *there, *ours)
            assert run.returncode == 0, run
            plain = run_tiffin(*command, *there)
            assert plain.returncode == failure and "lost the connection to" in plain.stderr, plain
            stranger = run_tiffin(*command, *there, "--tls")
            assert stranger.returncode == failure and "certificate refused: " in stranger.stderr, stranger
        run = monkey(server, *SHORT, *SMALL, *ours)
        assert run.violations == [] and run.unanswered == 0, run


def test_options_of_clients_are_checked(ca):
    for options, complaint in (
        (["--tls-ca", ca], "--tls-ca goes with --tls"), (["--tls", "--tls-key", ca], "--tls-key goes with --tls-cert"),
    ):
        run = run_tiffin("why", "cart", "c", *options)
        assert run.returncode == 64 and complaint in run.stderr, run
    run = run_tiffin("why", "cart", "c", "--tls", "--tls-ca", "/no/such.pem")
    assert run.returncode == 1 and "'/no/such.pem' cannot be read" in run.stderr, run


# --- client certificates


def test_a_server_can_ask_for_certificates(database, certificates, ca):
    with Server(database=database, options=certificates.options("server", tls_client_ca=ca)) as server:
        with redis.Redis(port=server.port, ssl=True, ssl_ca_certs=ca, ssl_certfile=certificates.file("client"),
                         ssl_keyfile=certificates.key("client")) as client:
            assert client.ping()
        known = redis_cli(server, "--tls", "--cacert", ca, "--cert", certificates.file("client"),
                          "--key", certificates.key("client"), "PING")
        assert known.stdout == "PONG\n", known
        for name in (None, "stranger"):
            with pytest.raises((ssl.SSLError, EOFError, ConnectionError)):
                with server.client(tls=certificates.context(name)) as client:
                    client("PING")


# --- reloading


def serial(server, context) -> str:
    with server.client(tls=context) as client:
        assert client("PING") == "PONG"
        return client.socket.getpeercert()["serialNumber"]


def test_certificates_are_reloaded_under_traffic(database, tmp_path):
    made = Certificates(tmp_path).sign("server").sign("next")
    context, stopping, failures, answered = made.context(), threading.Event(), [], [0] * 4

    def ask(number):
        try:
            with server.client(tls=context) as client:
                while not stopping.is_set():
                    client.send(encode("CART.COUNT", "never-seen") * 50)
                    assert [client.read() for _ in range(50)] == [0] * 50
                    answered[number] += 50
        except Exception as failure:
            failures.append(failure)

    def reload(expected):
        known = len(server.lines)
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: [line for line in server.lines[known:] if expected in line], expected)

    with Server(database=database, options=made.options("server")) as server:
        asking = [threading.Thread(target=ask, args=(number,)) for number in range(len(answered))]
        for thread in asking:
            thread.start()
        before = serial(server, context)
        reload("TLS with the certificate in")
        assert serial(server, context) == before
        for kind in ("pem", "key"):
            shutil.copy(tmp_path / f"next.{kind}", tmp_path / f"server.{kind}")
        reload("TLS with the certificate in")
        after = serial(server, context)
        assert after != before
        # What cannot be used changes nothing.
        (tmp_path / "server.key").write_text((tmp_path / "ca.key").read_text())
        reload("the old ones stay in use: the key in")
        os.remove(tmp_path / "server.pem")
        reload("the old ones stay in use: ")
        assert serial(server, context) == after
        known = list(answered)
        wait_until(lambda: all(a > b for a, b in zip(answered, known)) or failures, "answers")
        stopping.set()
        for thread in asking:
            thread.join()
        assert failures == []


def test_without_certificates_the_end_of_the_terminal_is_the_end(database):
    with Server(database=database) as server:
        with server.client() as client:
            assert client("PING") == "PONG"
        assert server.stop(signal.SIGHUP) == 0, server.output()


# --- others


def lines_about(server, local_port):
    return [line for line in list(server.lines) if line and f"127.0.0.1:{local_port}" in line]


@pytest.mark.parametrize("words", [
    b"*1\r\n$4\r\nPING\r\n", b"PING\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00" * 1_000, b"\x16\x03\x01\xff\xff",
    b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00" * 100, os.urandom(50_000),
], ids=["RESP", "inline", "HTTP", "zeros", "long record", "rubbish in records", "random"])
def test_whoever_speaks_no_tls_is_closed_with_one_line(tls_server, certificates, words):
    def refused():
        with tls_server.client(tls=certificates.context()) as client:
            return int(re.search(rb"tls_refused_handshakes:(\d+)", client("INFO", "stats"))[1])

    before = refused()
    with socket.create_connection(("127.0.0.1", tls_server.port), timeout=PATIENCE_SECONDS) as plain:
        port = plain.getsockname()[1]
        with contextlib.suppress(OSError):
            plain.sendall(words)
            plain.shutdown(socket.SHUT_WR)
        received = b""
        with contextlib.suppress(ConnectionError):
            while data := plain.recv(4096):
                received += data
    # At most an alert.
    assert len(received) <= 7 and b"PONG" not in received
    wait_until(lambda: lines_about(tls_server, port), "a line about the client")
    assert refused() == before + 1
    (line,) = lines_about(tls_server, port)
    assert line.startswith("tiffin: debug: no TLS with 127.0.0.1:")


def test_silent_clients_stop_nobody(tls_server, certificates):
    context = certificates.context()
    with contextlib.ExitStack() as sockets:
        silent = [
            sockets.enter_context(socket.create_connection(("127.0.0.1", tls_server.port), timeout=PATIENCE_SECONDS))
            for _ in range(200)]
        # Half of them begin, and say no more.
        for one in silent[::2]:
            one.sendall(b"\x16\x03\x01")
        for _ in range(20):
            with tls_server.client(tls=context) as client:
                assert client("PING") == "PONG"
        # After their time they are closed.
        assert silent[0].recv(100) in (b"", b"\x15\x03\x01\x00\x02\x02\x0a")


def test_asking_for_new_keys_again_and_again_ends_the_connection(tls_server, ca):
    known, complaint = len(tls_server.lines), "the keys were changed too often"
    reading, writing = os.pipe()
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{tls_server.port}", "-CAfile", ca, "-tls1_3"]
    with subprocess.Popen(
            command, stdin=reading, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        os.close(reading)

        def is_cut():
            # It takes a letter alone on a line as a command, if it comes alone.
            with contextlib.suppress(BrokenPipeError):
                os.write(writing, b"K\n")
            return [line for line in tls_server.lines[known:] if complaint in line]

        try:
            wait_until(is_cut, complaint)
        finally:
            os.close(writing)
            run.kill()


# --- starting


@pytest.mark.parametrize(("certificate", "key", "status", "complaint"), [
    ("server", None, 64, "--tls-cert and --tls-key go together"),
    (None, "server", 64, "--tls-cert and --tls-key go together"),
    ("server", "client", 1, "does not belong to the certificate"),
    ("missing", "server", 1, "missing.pem' cannot be read: No such file or directory"),
    ("server", "missing", 1, "missing.key' cannot be read: No such file or directory"),
])
def test_files_that_cannot_be_used_are_named_at_once(certificates, certificate, key, status, complaint):
    options = [
        *(["--tls-cert", certificates.file(certificate)] if certificate else []),
        *(["--tls-key", certificates.key(key)] if key else [])]
    run = run_tiffin("serve", "--database", "postgres://nobody@127.0.0.1:1/x", *options)
    assert run.returncode == status and complaint in run.stderr and len(run.stderr.splitlines()) == 1, run
    if not options[2:]:
        run = run_tiffin("serve", "--tls-client-ca", certificates.file("ca"))
        assert run.returncode == 64 and "--tls-client-ca goes with --tls-cert" in run.stderr, run


def test_what_an_operator_should_know_is_said_at_start(database, certificates, tmp_path):
    key = tmp_path / "open.key"
    shutil.copy(certificates.key("old"), key)
    key.chmod(0o644)
    with Server(database=database, options=["--tls-cert", certificates.file("old"), "--tls-key", str(key)]) as server:
        server.wait_for_output("expired on")
        assert f"every user of this machine can read the key in '{key}'" in server.output()


# --- the database


@pytest.fixture
def postgres_files(certificates):
    """PostgreSQL's settings for TLS. Its key has to belong to its account."""
    with tempfile.TemporaryDirectory(prefix="tiffin-keys.") as folder:
        os.chmod(folder, 0o711)
        for source in (certificates.file("server"), certificates.key("server")):
            copy = shutil.copy(source, folder)
            os.chmod(copy, 0o600)
            if os.geteuid() == 0:
                shutil.chown(copy, "postgres")
        yield {"ssl": "on", "ssl_cert_file": f"'{folder}/server.pem'", "ssl_key_file": f"'{folder}/server.key'"}


def test_the_database_is_reached_by_tls(certificates, postgres_files):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with private_cluster(port=port, listen_addresses="localhost", **postgres_files) as (_, _start, _stop):
        url = f"postgres://postgres@localhost:{port}/postgres"
        trusting = f"{url}?sslmode=verify-full&sslrootcert={certificates.file('ca')}"
        with Server(database=trusting) as server, server.client() as client:
            assert client("PING") == "PONG"
            of_server = "from pg_stat_ssl join pg_stat_activity using (pid) where pid <> pg_backend_pid() and client_port > 0"
            assert sql(f"select bool_and(ssl), count(*) > 0 {of_server}", trusting) == "t|t"
        other = f"{url}?sslmode=verify-full&sslrootcert={certificates.file('other-ca')}"
        run = run_tiffin("serve", "--database", other, seconds=30)
        assert run.returncode == 1 and "certificate verify failed" in run.stderr, run
