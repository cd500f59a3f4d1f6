"""Runs of `tiffin-monkey`, and what lies between one and its server."""

import contextlib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import threading
from pathlib import Path

import tiffin
from tiffin import binary

RUN_SECONDS = 90

# The load of a short run: enough for every kind of command, however slow the machine is. It takes half a second, or
# longer if answers do.
SHORT = ["--rate", 300, "--commands", 150, "--duration", "30s", "--shoppers", 15, "--connections", 4, "--seed", 11]
SMALL = ["--outlets", 4, "--items", 80]
# Ends a run at the first violation.
UNTIL_FOUND = ["--threshold", "checks:violations==0,abortOnFail"]
class Run:
    """A run that has ended: its exit code, what it wrote, and its report."""

    def __init__(self, arguments, process, report):
        self.arguments = [str(argument) for argument in arguments]
        self.code, self.output, self.errors = process.returncode, process.stdout, process.stderr
        self.report = json.loads(report.read_text()) if report.exists() else None

    def __repr__(self):
        return f"tiffin-monkey {shlex.join(self.arguments)} ended with {self.code}:\n{self.output}{self.errors}"

    @property
    def calls(self) -> dict:
        """How often each command was answered, accepted and refused; the sums are left out."""
        return {
            call["name"]: (call["accepted"], call["refused"])
            for call in self.report["calls"] if call["name"] not in ("reads", "writes")
        }

    @property
    def unanswered(self) -> int:
        """How many commands have an outcome that the run could not find out."""
        return sum(call["unknown"] for call in self.report["calls"] if call["name"] in ("reads", "writes"))

    @property
    def checks(self) -> dict:
        return {check["name"]: check["count"] for check in self.report["checks"]["made"]}

    @property
    def faults(self) -> dict:
        return {fault["kind"]: fault["count"] for fault in self.report["faults"]}

    @property
    def violations(self) -> list:
        return self.report["checks"]["violations"]


def command(server, *options) -> list:
    """The words of a run against a server, a port, or several of them; the monkey starts its own if there is none."""
    words = [str(Path(binary()).parent / "tiffin-monkey"), *map(str, options)]
    servers = server if isinstance(server, list) else [server]
    addresses = ",".join(f"127.0.0.1:{getattr(one, 'port', one)}" for one in servers)
    return words + ["--server", addresses] if server else words


def environment(**changes) -> dict:
    return {**{name: value for name, value in os.environ.items() if not name.startswith("TIFFIN_")}, **changes}


def run_monkey(folder, server, *options, code=0, until=None) -> Run:
    """Runs the monkey to its end, or until an event. Runs at the same time need a folder each."""
    report = Path(folder) / "report.json"
    report.unlink(missing_ok=True)
    arguments = command(server, *options, "--json", report)
    with subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
            env=environment()) as process:
        if until:
            threading.Thread(target=lambda: until.wait(RUN_SECONDS) and process.send_signal(signal.SIGINT)).start()
        try:
            output, errors = process.communicate(timeout=RUN_SECONDS)
        except BaseException:
            process.kill()
            raise
        finally:
            if until:
                until.set()
    run = Run(arguments[1:], subprocess.CompletedProcess(arguments, process.returncode, output, errors), report)
    assert code is None or run.code == code, run
    return run


# --- something between the monkey and the server


class Recording:
    """A file that keeps what is read from it, so that a reply can be passed on unchanged."""

    def __init__(self, file):
        self.file, self.kept = file, b""

    def readline(self):
        self.kept += (data := self.file.readline())
        return data

    def read(self, count):
        self.kept += (data := self.file.read(count))
        return data


class Tampering:
    """A proxy that passes every reply through `tamper(frame)`, which returns what is sent instead.

    `ends_with_client` closes both sides when the client ends its own, even if replies are outstanding."""

    def __init__(self, server, tamper=lambda frame: frame, ends_with_client=False):
        self.upstream, self.tamper, self.ends_with_client = server.port, tamper, ends_with_client

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for one in [self.listener, *self.sockets]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.upstream))
                self.sockets += [client, server]
                for one in (client, server):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._requests, args=(client, server), daemon=True).start()
                threading.Thread(target=self._replies, args=(client, server), daemon=True).start()

    def _requests(self, client, server):
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                server.sendall(data)
            if self.ends_with_client:
                client.shutdown(socket.SHUT_RDWR)
            server.shutdown(socket.SHUT_WR)

    def _replies(self, client, server):
        reader = tiffin.Client.__new__(tiffin.Client)
        reader.file = Recording(server.makefile("rb"))
        with contextlib.suppress(OSError, EOFError, ValueError):
            while True:
                reader.read()
                frame, reader.file.kept = reader.file.kept, b""
                client.sendall(self.tamper(frame))
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


def once(number, wanted, change):
    """Changes the nth of the wanted frames, and no other."""
    seen = 0

    def tamper(frame):
        nonlocal seen
        seen += wanted(frame)
        return change(frame) if wanted(frame) and seen == number else frame

    return tamper


def is_count(frame):
    return frame.startswith(b":")


def is_message(frame):
    return b"message" in frame[:20] and frame.startswith(b">")


def is_later_message(frame):
    return is_message(frame) and not re.search(rb'"from":(\d+),"to":\1,', frame)


def is_change(frame):
    """A message about a home or a cart with something in its patch."""
    return is_message(frame) and (b"home:" in frame or b"cart:" in frame) and b'"patch":[]' not in frame


def other_number(frame):
    """The message with its last number changed, which is a price, a sum or a revision."""
    head, text, end = frame.rpartition(b"\r\n")[0], b"", b"\r\n"
    head, _, text = head.rpartition(b"\r\n")
    number = list(re.finditer(rb'(?<=":)\d+', text))[-1]
    changed = text[:number.start()] + b"%d" % (int(number[0]) + 1) + text[number.end():]
    lines = head.split(b"\r\n")
    lines[-1] = b"$%d" % len(changed)
    return b"\r\n".join(lines) + b"\r\n" + changed + end
