"""A Tiffin server as a process, databases for it, and a plain client of its line protocol.

Of packages only psycopg: the benchmarks use it too. Nothing here sleeps and hopes: it waits for a line of
output, or polls for a condition up to a named bound.
"""

import atexit
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

CHECKOUT = Path(__file__).resolve().parents[2]
SHARED_DATA = Path(os.environ.get("TIFFIN_SHARED_DATA", CHECKOUT.parent / "shared" / "data"))

START_SECONDS = 60
STOP_SECONDS = 20
REPLY_SECONDS = 30
# Far more than anything takes: what hangs is noticed, and a busy machine is not.
PATIENCE_SECONDS = 120
# Those whose rows are stored, in the order of their names.
PROJECTIONS = ["cart_counts", "orders", "outlet_home", "processes", "supply", "takings"]
# How long after the end of a trouble everything is served again.
RECOVERED_SECONDS = 5
# What is answered meanwhile. With an ID, the command can be sent again.
AWAY = {"UNAVAILABLE", "UNKNOWN"}


def binary() -> str:
    """The server under test: TIFFIN_BINARY, or the debug build."""
    path = os.environ.get("TIFFIN_BINARY", CHECKOUT / ".build" / "debug" / "tiffin")
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"no tiffin at {path}; build it or set TIFFIN_BINARY")
    return os.path.abspath(path)


# --- databases


def superuser_url() -> str:
    try:
        return os.environ["TIFFIN_TEST_DATABASE"]
    except KeyError:
        raise RuntimeError("TIFFIN_TEST_DATABASE is not set; run this through Scripts/with-postgres") from None


def sql(statement: str, url: str | None = None) -> str:
    """Runs SQL and returns its rows, a line each, with | between the columns. Other databases than that of
    TIFFIN_TEST_DATABASE have no connection afterwards: they can be dropped and copied."""
    try:
        if url:
            with connection_to(url) as connection:
                return rows(connection.execute(statement))
        with shared as connection:
            return rows(connection.execute(statement))
    except psycopg.Error as error:
        raise RuntimeError(f"PostgreSQL: {error}") from error


def connection_to(url: str) -> psycopg.Connection:
    limit = f"-c statement_timeout={REPLY_SECONDS * 4}s"
    return psycopg.connect(url, autocommit=True, connect_timeout=REPLY_SECONDS, options=limit)


def rows(cursor: psycopg.Cursor) -> str:
    """What all statements returned, as PostgreSQL writes it."""
    lines, is_left = [], True
    while is_left:
        result = cursor.pgresult
        for row in range(result.ntuples):
            values = [result.get_value(row, column) or b"" for column in range(result.nfields)]
            lines.append(b"|".join(values).decode())
        is_left = cursor.nextset()
    return "\n".join(lines).strip()


class SharedConnection:
    """The connection to TIFFIN_TEST_DATABASE, for one thread at a time."""

    def __init__(self):
        self._lock = threading.Lock()
        self._connection = None
        atexit.register(self._close)

    def __enter__(self) -> psycopg.Connection:
        self._lock.acquire()
        try:
            if self._connection is None or self._connection.closed:
                self._connection = connection_to(superuser_url())
            return self._connection
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, *_):
        self._lock.release()

    def _close(self):
        if self._connection:
            self._connection.close()


shared = SharedConnection()


@contextlib.contextmanager
def fresh_database(template: str | None = None):
    """The URL of a database that is dropped afterwards: empty, or a copy of one that nobody is connected to."""
    name = f"tiffin_{uuid.uuid4().hex[:12]}"
    sql(f"create database {name}" + (f" template {urlsplit(template).path[1:]}" if template else ""))
    try:
        yield urlunsplit(urlsplit(superuser_url())._replace(path=f"/{name}"))
    finally:
        sql(f"drop database {name} with (force)")


@contextlib.contextmanager
def open_transaction(url: str, statement: str):
    """Somebody has executed a statement, and ends the transaction only afterwards."""
    psql = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1", url]
    with subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
        session.stdin.write(f"begin;\n{statement};\n\\echo executed\n")
        session.stdin.flush()
        while (line := session.stdout.readline()) != "executed\n":
            assert line, "the statement failed"
        try:
            yield
        finally:
            # psql ends, and with it the transaction.
            session.stdin.close()


@contextlib.contextmanager
def private_cluster(parent=None, **settings):
    """A PostgreSQL that can be started and stopped: its URL, a function that starts it with other settings beside
    these, and one that stops it in a mode of pg_ctl. It runs already, and without fsync unless told otherwise."""
    account = "postgres" if os.geteuid() == 0 else None
    folder = tempfile.mkdtemp(prefix="tiffin-cluster.", dir=parent)
    if account:
        shutil.chown(folder, account)

    def run(program, *arguments):
        subprocess.run(
            [program, "--pgdata", f"{folder}/data", *arguments], check=True, timeout=60, cwd="/", user=account,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(**more):
        every = {"listen_addresses": "''", "unix_socket_directories": f"'{folder}'", "fsync": "off", "jit": "off",
                 **settings, **more}
        run("pg_ctl", "start", "--wait", "--silent", "--log", f"{folder}/log",
            "--options", " ".join(f"-c {name}={value}" for name, value in every.items()))

    def stop(mode="fast"):
        run("pg_ctl", "stop", "--mode", mode)

    try:
        run("initdb", "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C",
            *([] if settings.get("fsync") == "on" else ["--no-sync"]))
        start()
        yield f"postgres://postgres@{folder.replace('/', '%2F')}/postgres", start, stop
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def replica_of(url):
    """The same database on a streaming replica of its server."""
    account = "postgres" if os.geteuid() == 0 else None
    folder = tempfile.mkdtemp(prefix="tiffin-replica.")
    if account:
        shutil.chown(folder, account)
    data = f"{folder}/data"

    def run(*words):
        subprocess.run(
            words, check=True, timeout=60, cwd="/", user=account, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE)

    try:
        run("pg_basebackup", "--pgdata", data, "--write-recovery-conf", "--checkpoint", "fast", "--no-sync", "--dbname", url)
        run("pg_ctl", "start", "--wait", "--pgdata", data, "--log", f"{folder}/log",
            "--options", f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off "
            f"-c max_connections={sql('show max_connections', url)}")
        yield urlunsplit(urlsplit(url)._replace(netloc=f"postgres@{folder.replace('/', '%2F')}"))
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            run("pg_ctl", "stop", "--mode", "immediate", "--pgdata", data)
        shutil.rmtree(folder)


class SmallDisk:
    """A file system in memory, which can be filled."""

    def __init__(self, path):
        self.path = path
        self._filler = os.path.join(path, "filler")

    @staticmethod
    @contextlib.contextmanager
    def mounted(megabytes: int):
        """The disk; None where it cannot be mounted: only root can on Linux."""
        path = tempfile.mkdtemp(prefix="tiffin-disk.")
        os.chmod(path, 0o711)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=711", "tmpfs", path]
        mounted = os.geteuid() == 0 and shutil.which("mount") and subprocess.run(mount, capture_output=True).returncode == 0
        try:
            yield SmallDisk(path) if mounted else None
        finally:
            if mounted:
                subprocess.run(["umount", "--lazy", path], check=True)
            os.rmdir(path)

    def fill(self):
        with open(self._filler, "ab") as file:
            while room := self._room():
                # Somebody else may have taken some.
                with contextlib.suppress(OSError):
                    os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, room)

    def _room(self):
        state = os.statvfs(self.path)
        return state.f_bavail * state.f_frsize

    def free(self):
        os.unlink(self._filler)


@contextlib.contextmanager
def fresh_data_dir(parent=None):
    """A data directory for an embedded PostgreSQL, which runs under another account if we are root."""
    folder = tempfile.mkdtemp(prefix="tiffin-data.", dir=parent)
    os.chmod(folder, 0o711)
    try:
        yield os.path.join(folder, "data")
    finally:
        _stop_orphaned_postgres(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _stop_orphaned_postgres(folder: str) -> None:
    # A server killed with SIGKILL leaves its PostgreSQL to its successor; after the last one it ends here.
    # Directories come and go meanwhile: os.walk passes over one that is gone.
    for parent, _, files in os.walk(folder):
        file = Path(parent) / "postmaster.pid"
        if file.name not in files:
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int(file.read_text().split()[0])
            os.kill(pid, signal.SIGINT)
            wait_until(lambda: not file.exists(), f"PostgreSQL {pid} to end")


def postmaster(data_dir) -> int:
    """The process of a server's private PostgreSQL."""
    return int((Path(data_dir) / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])


def private_address(data_dir) -> str:
    """The address of a server's private PostgreSQL, as its owner."""
    sockets = (Path(data_dir) / "postgres" / "postmaster.pid").read_text().split("\n")[4]
    return f"postgres:///tiffin?host={sockets}&user=tiffin"


def end_for_lack_of_room(address: str) -> None:
    """A PostgreSQL whose disk is full needs the next file of its log, and ends because it cannot have it."""
    with contextlib.suppress(RuntimeError):
        # It may have some in reserve.
        for _ in range(20):
            sql("select pg_switch_wal(); create table if not exists public.filler (); drop table public.filler", address)


def wait_until(condition, what: str, seconds: float = PATIENCE_SECONDS, every: float = 0.005):
    """Polls, after so many seconds each time, until `condition()` is true, and returns what it was."""
    deadline = time.monotonic() + seconds
    while True:
        asked = time.monotonic()
        if value := condition():
            return value
        answered = time.monotonic()
        if answered > deadline:
            raise TimeoutError(f"waited {seconds} s for {what}")
        # What is costly to ask is asked less often: the machine is for whoever is waited for.
        time.sleep(max(every, min(4 * (answered - asked), 0.2)))


# --- the server


class Server:
    """`tiffin serve` on a free port; it can be stopped, killed and started again on the same log."""

    def __init__(
        self, *, database=None, data_dir=None, options=(), environment=None, prepare=None, host="127.0.0.1", port=0,
    ):
        self.host = host
        self.arguments = ["serve", "--listen", f"{host}:{port}", *options]
        if database:
            self.arguments += ["--database", database]
        if data_dir:
            self.arguments += ["--data-dir", str(data_dir)]
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("TIFFIN_")},
            # Many servers run at once; those that are asked for a site have options for that.
            "TIFFIN_WEB": "off", "TIFFIN_CONSOLE": "off", **(environment or {}),
        }
        # Called in the new process before it becomes the server.
        self.prepare = prepare
        self.process = None
        self.port = None
        self.lines = []

    def launch(self) -> "Server":
        """Starts the process; does not wait until it listens."""
        assert self.process is None or self.process.poll() is not None, "it runs already, and would be left behind"
        self.port, self.lines, self._news = None, [], threading.Condition()
        self.process = subprocess.Popen(
            [binary(), *self.arguments], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", preexec_fn=self.prepare,
        )
        self._reader = threading.Thread(target=self._read, args=(self.process, self._news, self.lines), daemon=True)
        self._reader.start()
        return self

    def start(self) -> "Server":
        return self.launch().wait_until_listening()

    # The lines are passed in, because the end of one process may be read after the next one is started.
    def _read(self, process, news, lines):
        with process.stdout:
            for line in process.stdout:
                with news:
                    lines.append(line.rstrip("\n"))
                    news.notify_all()
        with news:
            lines.append(None)
            news.notify_all()

    def wait_until_listening(self) -> "Server":
        prefix = "tiffin: listening on "

        def announced():
            return [line for line in self.lines if line is None or line.startswith(prefix)]

        with self._news:
            self._news.wait_for(announced, START_SECONDS)
            line = next(iter(announced()), None)
        if line is None:
            self.kill()
            raise RuntimeError(f"tiffin did not start to listen:\n{self.output()}")
        self.port = int(line.removeprefix(prefix).split()[0].rpartition(":")[2])
        return self

    def site(self, name: str) -> str:
        """The address of the `store` or the `console`, `127.0.0.1:50100`, as soon as it is there."""
        prefix = f"tiffin: {name} on http://"
        with self._news:
            self._news.wait_for(lambda: any(line is None or line.startswith(prefix) for line in self.lines), START_SECONDS)
            return next(line.removeprefix(prefix) for line in self.lines if line and line.startswith(prefix))

    def wait_until_ended(self) -> int:
        """The exit status of a server that ends by itself."""
        status = self.process.wait(timeout=START_SECONDS)
        self._reader.join(timeout=STOP_SECONDS)
        return status

    def output(self) -> str:
        return "\n".join(line for line in self.lines if line is not None)

    def wait_for_output(self, text: str) -> None:
        """Waits until the server has printed something; its log is written by a thread of its own."""
        wait_until(lambda: text in self.output(), f"the server to print {text!r}")

    def stop(self, signal_number=signal.SIGTERM) -> int:
        """Asks the server to stop, and returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
            try:
                self.process.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
                raise RuntimeError(f"tiffin did not stop within {STOP_SECONDS} s:\n{self.output()}") from None
        self._reader.join(timeout=STOP_SECONDS)
        return self.process.returncode

    def kill(self) -> None:
        """SIGKILL, which the server cannot handle."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=STOP_SECONDS)

    def processor_seconds(self) -> tuple[float, float]:
        """What the first thread took, which serves everybody, and what all others did."""
        def seconds(file):
            return sum(map(int, Path(file).read_text().rpartition(") ")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")

        pid = self.process.pid
        loop = seconds(f"/proc/{pid}/task/{pid}/stat")
        return loop, seconds(f"/proc/{pid}/stat") - loop

    def client(self, **options) -> "Client":
        return Client(self.port, **{"host": self.host, **options})

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        if self.process.poll() is not None:
            return
        if kind is None:
            assert self.stop() == 0, self.output()
        else:
            self.kill()


# --- the line protocol


class ReplyError(Exception):
    """An error reply: `code` is its first word."""

    @property
    def code(self) -> str:
        return str(self).split(" ", 1)[0]

    def __eq__(self, other):
        return isinstance(other, ReplyError) and str(self) == str(other)

    __hash__ = Exception.__hash__


def in_the_words_of_redis(replies) -> list:
    """The replies without what Tiffin adds to those of Redis: what a right call looks like."""
    added = re.compile(r"(wrong number of arguments for '.*' command); .*")
    return [ReplyError(added.sub(r"\1", str(reply))) if isinstance(reply, ReplyError) else reply for reply in replies]


class Simple(str):
    """A simple string, as distinct from a bulk string, which is `bytes`."""


class Verbatim(bytes):
    """A RESP3 verbatim string, without its format."""


@dataclass
class Push:
    """A RESP3 push frame."""

    items: list


def encode(*arguments) -> bytes:
    """A request as an array of bulk strings."""
    parts = [argument if isinstance(argument, bytes) else str(argument).encode() for argument in arguments]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class Client:
    """One connection. Error replies are returned by `read` and `pipeline`, raised by calling the client."""

    # Called with each command and its reply, where somebody looks at all of them.
    on_reply = staticmethod(lambda arguments, reply: None)

    def __init__(self, port: int, *, host="127.0.0.1", source=None, protocol=2, tls=None):
        self.socket = socket.create_connection((host, port), REPLY_SECONDS, source and (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=host)
        self.file = self.socket.makefile("rb", buffering=1 << 16)
        if protocol == 3:
            self("HELLO", "3")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def __call__(self, *arguments):
        self.send(encode(*arguments))
        reply = self.read()
        if isinstance(reply, ReplyError):
            raise reply
        self.on_reply(arguments, reply)
        return reply

    def json(self, *arguments):
        """The reply parsed as JSON, None for null. Objects keep the order of their keys."""
        reply = self(*arguments)
        return None if reply is None else json.loads(reply)

    def error(self, *arguments) -> ReplyError:
        """The error that the command must answer."""
        self.send(encode(*arguments))
        reply = self.read()
        assert isinstance(reply, ReplyError), f"{arguments} was answered {reply!r}, not with an error"
        return reply

    def pipeline(self, commands, window=256) -> list:
        """Sends the commands, `window` at a time, and returns the replies, errors among them."""
        replies, batch = [], []
        commands = list(commands)
        for command in commands:
            batch.append(encode(*command))
            if len(batch) == window:
                self.send(b"".join(batch))
                replies += [self.read() for _ in batch]
                batch = []
        if batch:
            self.send(b"".join(batch))
            replies += [self.read() for _ in batch]
        for command, reply in zip(commands, replies):
            self.on_reply(command, reply)
        return replies

    def read(self):
        """The next reply; EOFError when the server has closed the connection."""
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        match kind:
            case b"+":
                return Simple(rest.decode())
            case b"-":
                return ReplyError(rest.decode())
            case b":" | b"(":
                return int(rest)
            case b"$" | b"=":
                return self._bulk(kind, int(rest))
            case b"*" | b"~":
                return None if int(rest) < 0 else self._message([self.read() for _ in range(int(rest))])
            case b"%":
                return {self.read(): self.read() for _ in range(int(rest))}
            case b">":
                return Push(self._message([self.read() for _ in range(int(rest))]))
            case b"_":
                return None
            case b",":
                return float(rest)
            case b"#":
                return rest == b"t"
        raise ValueError(f"not a reply: {line!r}")

    def _message(self, items: list) -> list:
        if items[:1] == [b"message"]:
            self.on_reply(items[:2], items[2])
        return items

    def _bulk(self, kind: bytes, length: int):
        if length < 0:
            return None
        data = self.file.read(length + 2)
        if len(data) != length + 2:
            raise EOFError("the server closed the connection within a reply")
        return Verbatim(data[4:-2]) if kind == b"=" else data[:-2]

    def is_closed(self) -> bool:
        """Whether the server has closed the connection, with nothing left to read."""
        try:
            return self.file.read(1) == b""
        except ConnectionResetError:
            return True


@contextlib.contextmanager
def private_redis(*options):
    """A redis-server of its own that keeps nothing, but for what options say. Gives its port."""
    with tempfile.TemporaryDirectory(prefix="tiffin-redis.") as folder:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def answers():
            if process.poll() is not None:
                raise RuntimeError("redis-server did not start")
            with contextlib.suppress(OSError), Client(port) as client:
                return client("PING")

        try:
            wait_until(answers, "redis-server")
            yield port
        finally:
            process.terminate()
            process.wait(timeout=30)


def until_served(client: Client, *command):
    """The answer to a command, which is refused as long as the database is away or the log is read again."""
    began = time.monotonic()
    while True:
        try:
            return client(*command)
        except ReplyError as error:
            assert error.code in AWAY, error
            assert time.monotonic() - began < RECOVERED_SECONDS, error


# --- outlets, menus, logs


def outlet_document(name="Test Kitchen", **changes) -> dict:
    return {
        "name": name, "city": "Colombo", "area": "Fort", "address": "1 Harbour Street", "currency": "LKR",
        "timeZone": "Asia/Colombo", "cuisines": ["Sri Lankan"], "priceForTwo": 240000, "rating": 4.4,
        "ratingCount": 120, "deliveryMinutes": 35, "minimumOrder": 0, **changes,
    }


def item_document(item: str, price: int, *, kind="menuItem", **changes) -> dict:
    return {
        "id": item, "kind": kind, "name": item.title(), "description": f"The {item}.", "price": price,
        "cuisine": "Sri Lankan", "tags": ["test"], "imageSmall": f"https://example.com/{item}-small.jpg",
        "imageLarge": f"https://example.com/{item}-large.jpg", "maxQuantity": 99, **changes,
    }


def section_document(section: str, items: list, *, kind="menuItems", **changes) -> dict:
    return {
        "id": section, "title": section.title(), "kind": kind, "layout": {"style": "list"}, "sticky": False,
        "items": items, **changes,
    }


@contextlib.contextmanager
def saved_database(load):
    """The URL of a database with a log that `load` has a server write, and its read models; the server has stopped."""
    with fresh_database() as url:
        server = Server(database=url).start()
        load(server)
        assert server.stop() == 0
        yield url


def put_open_outlet(client: Client, outlet: str, sections: list, groups: list | None = None, **changes) -> None:
    """Registers the outlet, gives it the menu and opens it."""
    client("OUTLET.PUT", outlet, json.dumps(outlet_document(**changes)))
    client("MENU.PUT", outlet, json.dumps({"sections": sections} | ({"groups": groups} if groups else {})))
    client("OUTLET.OPEN", outlet)


def read_log(client: Client, *options, page=500) -> list:
    """All events of the log, or those of `STREAM name`, in order of position."""
    events, first = [], 1
    while batch := client("LOG.READ", "FROM", first, "COUNT", page, *options):
        events += [json.loads(event) for event in batch]
        first = events[-1]["position"] + 1
    return events


def run_tiffin(*arguments, environment=None, seconds=120, text="", folder=None) -> subprocess.CompletedProcess:
    """Runs `tiffin` with these arguments, and this text on its standard input, to its end, in this folder."""
    return subprocess.run(
        [binary(), *map(str, arguments)], capture_output=True, text=True, timeout=seconds, input=text,
        env={**os.environ, **(environment or {})}, cwd=folder,
    )
