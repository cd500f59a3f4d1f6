"""The web server next to nginx, and its event streams: `Scripts/bench web`."""

import asyncio
import re
import shutil
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


@contextmanager
def web_server():
    options = (
        "--web", "127.0.0.1:0", "--web-max-connections", IDLE_STREAMS + 1_000,
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
            wait_until(lambda: answers(f"http://127.0.0.1:{port}/home.json"), 10, "nginx")
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


class Stream:
    """One event stream, of which the times of the events are kept."""

    def __init__(self, address, topic):
        self.address, self.topic, self.heard = address.split(":"), topic, {}

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(*self.address)
        self.writer.write(f"GET /v1/stream?t={self.topic} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await self.reader.readuntil(b"\r\n\r\n")
        await self.reader.readuntil(b"\n\n")
        return self

    async def listen(self):
        while event := await self.reader.readuntil(b"\n\n"):
            if found := re.search(rb'"to":(\d+)', event):
                self.heard[int(found[1])] = time.monotonic()


async def opened(address, topic, count):
    streams = []
    for _ in range(0, count, 100):
        streams += await asyncio.gather(*(Stream(address, topic).open() for _ in range(min(100, count - len(streams)))))
    return streams


async def latencies(server, seconds):
    """The milliseconds from a price's reply until each stream has it."""
    streams = await opened(server.site("store"), "home:kitchen", STREAMS)
    listening = [asyncio.create_task(stream.listen()) for stream in streams]
    changed = {}

    def change():
        with server.client() as client:
            for number in range(int(seconds * MESSAGES_PER_SECOND)):
                began = time.monotonic()
                client("MENU.ITEM.PRICE", "kitchen", "dish-0", 1_000 + number % 2)
                changed[client.json("OUTLET.HOME", "kitchen")["revision"]] = began
                time.sleep(max(0, began + 1 / MESSAGES_PER_SECOND - time.monotonic()))

    await asyncio.to_thread(change)
    await asyncio.sleep(1)
    for task in listening:
        task.cancel()
    delays = [
        (stream.heard[revision] - began) * 1_000
        for stream in streams for revision, began in changed.items() if revision in stream.heard]
    for stream in streams:
        stream.writer.close()
    return delays


async def idle(server):
    """The megabytes that idle streams take."""
    before = resident_megabytes(server.process.pid)
    streams = await opened(server.site("store"), "home:kitchen", IDLE_STREAMS)
    taken = resident_megabytes(server.process.pid) - before
    for stream in streams:
        stream.writer.close()
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
        delays = asyncio.run(latencies(server, 3 if quick else 15))
        p50, p99 = statistics.median(delays), statistics.quantiles(delays, n=100)[98]
        report.line(f"  {STREAMS:,} streams, {MESSAGES_PER_SECOND} messages a second: half within {p50:.1f} ms")
        report.verdict("99 of 100 within", p99, LATENCY_MILLISECONDS, at_least=False, unit=" ms")
        report.verdict(
            f"{IDLE_STREAMS:,} idle streams take", asyncio.run(idle(server)), IDLE_MEGABYTES, at_least=False, unit=" MB")
