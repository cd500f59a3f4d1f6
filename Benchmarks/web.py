"""The web server next to nginx, and its event streams: `Scripts/bench web`."""

import multiprocessing
import re
import selectors
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from harness import fresh_database, in_turn, output_of, per_second, put_kitchen, resident_megabytes
from tiffin import Server, wait_until

CONNECTIONS = 64
SECONDS = 6
RATIO = 0.8
STREAMS = 1_000
MESSAGES_PER_SECOND = 20
LATENCY_MILLISECONDS = 20
IDLE_STREAMS = 10_000
IDLE_MEGABYTES = 60
MENU_ITEMS = 24
REVISION = re.compile(rb'"to":(\d+)')


@contextmanager
def web_server():
    options = (
        "--max-clients", 1_000, "--web", "127.0.0.1:0", "--web-max-connections", IDLE_STREAMS + 1_000,
        "--web-max-connections-per-address", IDLE_STREAMS + 1_000, "--web-max-streams", IDLE_STREAMS + 1_000)
    with fresh_database() as url, Server(database=url, options=tuple(map(str, options))) as server:
        yield server


@contextmanager
def nginx(document):
    """An nginx with one worker that serves these bytes as a file: its address."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "home.json").write_bytes(document)
        port = 17_380
        (folder / "nginx.conf").write_text(
            f"daemon off;\nerror_log stderr;\npid {folder}/pid;\nworker_processes 1;\nevents {{}}\n"
            "http { access_log off; sendfile on; tcp_nopush on; open_file_cache max=10; keepalive_requests 10000000;\n"
            f"server {{ listen 127.0.0.1:{port}; root {folder}; default_type application/json; }} }}\n")
        process = subprocess.Popen(["nginx", "-p", folder, "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: answers(f"http://127.0.0.1:{port}/home.json"), "nginx")
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=5).read()
    except OSError:
        return None


def wrk(url, seconds):
    output = output_of("wrk", "-t", 1, "-c", CONNECTIONS, "-d", f"{seconds}s", url)
    return float(re.search(r"Requests/sec:\s*([\d.]+)", output)[1])


class Streams:
    """Event streams of one topic, read by one thread that keeps up with many of them."""

    def __init__(self, address, topic, count):
        host, port = address.split(":")
        request = f"GET /v1/stream?t={topic} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        self._selector = selectors.DefaultSelector()
        for _ in range(count):
            connection = socket.create_connection((host, int(port)), timeout=SECONDS)
            connection.sendall(request)
            head = connection.recv(1 << 16)
            if not head.startswith(b"HTTP/1.1 200 "):
                raise ConnectionError(head.partition(b"\r\n")[0].decode())
            connection.setblocking(False)
            self._selector.register(connection, selectors.EVENT_READ)

    def hear(self, stop):
        """When each stream had which revision, until `stop` says so: pairs of the revision and the time."""
        heard = []
        while not stop():
            for key, _ in self._selector.select(0.1):
                data = key.fileobj.recv(1 << 14)
                if not data:
                    raise EOFError("the server closed a stream")
                now = time.monotonic()
                heard += [(int(revision), now) for revision in REVISION.findall(data)]
        return heard

    def close(self):
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()


def audience(address, topic, count, pipe):
    """Runs in a process of its own, so that reading does not wait for the one that writes."""
    streams = Streams(address, topic, count)
    pipe.send("open")
    pipe.send(streams.hear(pipe.poll))
    streams.close()


def latencies(server, seconds):
    """The milliseconds from the reply to a price, when it is durable, until each stream has it."""
    ours, theirs = multiprocessing.Pipe()
    listening = multiprocessing.Process(target=audience, args=(server.site("store"), "home:kitchen", STREAMS, theirs))
    listening.start()
    theirs.close()
    ours.recv()
    replied = {}
    with server.client() as client:
        revision = client.json("OUTLET.HOME", "kitchen")["revision"]
        count = int(seconds * MESSAGES_PER_SECOND)
        for number in range(count):
            now = time.monotonic()
            # Nobody else changes this home: a price is the next revision.
            revision += 1
            client("MENU.ITEM.PRICE", "kitchen", "dish-0", 1_001 + number % 2)
            replied[revision] = time.monotonic()
            time.sleep(max(0, now + 1 / MESSAGES_PER_SECOND - time.monotonic()))
    time.sleep(1)
    ours.send("stop")
    delays = [
        max(0, when - replied[revision]) * 1_000 for revision, when in ours.recv() if revision in replied]
    listening.join()
    return delays, count * STREAMS


def idle(server):
    """The megabytes that idle streams take."""
    before = resident_megabytes(server.process.pid)
    streams = Streams(server.site("store"), "home:kitchen", IDLE_STREAMS)
    taken = resident_megabytes(server.process.pid) - before
    streams.close()
    return taken


def measure_web(report, rounds, quick):
    report.title("The web server")
    seconds = 2 if quick else SECONDS
    with web_server() as server:
        with server.client() as client:
            put_kitchen(client, items=MENU_ITEMS)
        home = f"http://{server.site('store')}/v1/outlets/kitchen/home"
        document = answers(home)
        missing = [program for program in ("wrk", "nginx") if not shutil.which(program)]
        if missing:
            report.not_measured("answers a second", f"{' and '.join(missing)} not installed")
        else:
            with nginx(document) as peer:
                median = in_turn(rounds, {
                    "ours": lambda: wrk(home, seconds), "nginx": lambda: wrk(f"http://{peer}/home.json", seconds)})
            report.table([
                (f"home of {len(document):,} bytes", "a second"), ("tiffin", per_second(median["ours"])),
                ("nginx, the same as a file", per_second(median["nginx"]))])
            report.verdict("of nginx", median["ours"] / median["nginx"], RATIO)
        delays, sent = latencies(server, 3 if quick else 15)
        p50, p99 = statistics.median(delays), statistics.quantiles(delays, n=100)[98]
        report.line(
            f"  {STREAMS:,} streams, {MESSAGES_PER_SECOND} messages a second: half within {p50:.1f} ms, "
            f"{len(delays):,} of {sent:,} heard one by one")
        report.verdict("99 of 100 within", p99, LATENCY_MILLISECONDS, at_least=False, unit=" ms")
        report.verdict(
            f"{IDLE_STREAMS:,} idle streams take", idle(server), IDLE_MEGABYTES, at_least=False, unit=" MB")
