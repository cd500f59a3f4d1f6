"""Calls over HTTP: who calls, and when a call is sent again."""

import contextlib
import http.client
import itertools
import json
import random
import secrets
import select
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from .errors import TiffinError
from .reading import read, write

# A command that needs the database is answered within 5 seconds, whatever the database does.
ATTEMPT_SECONDS = 10.0
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 2.0
LONGEST_IDLE_SECONDS = 30.0

Query = Iterable[tuple[str, Any]]


def pause(attempt: int, longest: float = LONGEST_PAUSE_SECONDS) -> float:
    """How many seconds to wait before the next attempt: longer each time, and never as long as everybody else."""
    return min(longest, FIRST_PAUSE_SECONDS * 2 ** min(attempt, 10)) * random.uniform(0.5, 1)


def segment(text: str) -> str:
    """A text as a part of a path."""
    return quote(text, safe="")


class Identity(Protocol):
    """Who calls."""

    def fields(self) -> dict[str, str]: ...

    def take(self, cookies: list[str]) -> None: ...


class Visitor:
    """A customer of the store: a secret, and which of its carts is the current one.

    The server would give it away with its first answer. If that answer is lost, so is the cart. So it is made here.
    """

    COOKIE = "__Host-tiffin"

    def __init__(self, session: str | None = None):
        self.session = session or f"{secrets.token_hex(32)}.1"
        self._lock = threading.Lock()

    def fields(self) -> dict[str, str]:
        return {"Cookie": f"{self.COOKIE}={self.session}"}

    def take(self, cookies: list[str]) -> None:
        for cookie in cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            if name != self.COOKIE:
                continue
            with self._lock:
                secret, _, cart = value.partition(".")
                own, _, current = self.session.partition(".")
                if not value:
                    self.session = f"{secrets.token_hex(32)}.1"
                # An answer that comes late leads back to no earlier cart.
                elif secret != own or int(cart) > int(current):
                    self.session = value


class Login:
    """A user of the console; None while there are no users."""

    def __init__(self, user: str | None, token: str | None):
        self._fields = {"Authorization": f"Bearer {user}:{token}"} if user else {}

    def fields(self) -> dict[str, str]:
        return self._fields

    def take(self, cookies: list[str]) -> None:
        pass


class Connection:
    """Calls to one site, by any number of threads. `deadline` is how many seconds a call may take with all attempts."""

    def __init__(self, url: str, identity: Identity, deadline: float):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url} is no address of a site")
        is_local = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if isinstance(identity, Visitor) and parts.scheme == "http" and not is_local:
            raise ValueError(f"{url}: a session is a secret, which goes only over https or on the same machine")
        self._make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
        self.identity, self.deadline = identity, deadline
        # Those that are open and not in use, with when they were put back.
        self._idle: list[tuple[http.client.HTTPConnection, float]] = []

    def close(self) -> None:
        """Closes what is open; the next call opens another."""
        while self._idle:
            self._idle.pop()[0].close()

    def call(
        self, method: str, path: str, answer: Any = Any, *, takes: str | None = None, query: Query = (),
        body: Any = None, picture: tuple[str, bytes] | None = None, has_key: bool = False, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """The answer to a call, or its member `takes`, as the type `answer`; None if there is none.

        It is sent again after what passes, until the deadline. A call that may be done twice needs a key for that if
        nobody knows whether it was done: with `has_key` there is one.
        """
        fields = {"Accept": "application/json", **({"Idempotency-Key": key or uuid.uuid4().hex} if has_key else {})}
        content = None
        if picture:
            fields["Content-Type"], content = picture
        elif body is not None:
            members = {name: value for name, value in write(body).items() if value is not None}
            fields["Content-Type"], content = "application/json", json.dumps(members).encode()
        address = path + _query(query)
        can_repeat = has_key or method in ("GET", "PUT")
        ends = time.monotonic() + (self.deadline if deadline is None else deadline)
        doubt = None
        for attempt in itertools.count():
            try:
                return self._attempt(method, address, fields, content, (answer, takes), ends, reuses=can_repeat)
            except TiffinError as error:
                if error.leaves_doubt:
                    doubt = error
                waits = max(pause(attempt), error.retry_after)
                may_repeat = can_repeat or not error.leaves_doubt
                if error.is_temporary and may_repeat and time.monotonic() + waits < ends:
                    time.sleep(waits)
                elif doubt and error.is_temporary:
                    # The last attempt was not accepted; an earlier one may have been.
                    raise doubt from None
                else:
                    raise

    def _attempt(
        self, method: str, path: str, fields: dict[str, str], content: bytes | None, wanted: tuple[Any, str | None],
        ends: float, reuses: bool,
    ) -> Any:
        connection = self._take() if reuses else None
        patience = max(0.001, min(ATTEMPT_SECONDS, ends - time.monotonic()))
        try:
            connection = connection or self._make(self._host, self._port)
            connection.timeout = patience
            if connection.sock:
                connection.sock.settimeout(patience)
            connection.request(method, self._path + path, content, {**fields, **self.identity.fields()})
            response = connection.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException) as cut:
            if connection:
                connection.close()
            raise TiffinError("LOST", f"no answer came: {cut or type(cut).__name__}") from cut
        self.identity.take(response.headers.get_all("Set-Cookie") or [])
        if response.will_close:
            connection.close()
        else:
            self._idle.append((connection, time.monotonic()))
        return _document(response, data, wanted)

    def _take(self) -> http.client.HTTPConnection | None:
        while True:
            try:
                connection, since = self._idle.pop()
            except IndexError:
                return None
            # One that can be read was closed by the server.
            is_open = connection.sock and not select.select([connection.sock], [], [], 0)[0]
            if is_open and time.monotonic() - since < LONGEST_IDLE_SECONDS:
                return connection
            connection.close()

    @contextlib.contextmanager
    def lines(self, path: str, query: Query, silence: float) -> Iterator[Iterator[str]]:
        """The lines of an answer that goes on, which is silent for at most so many seconds."""
        connection = self._make(self._host, self._port, timeout=silence)
        try:
            fields = {"Accept": "text/event-stream", **self.identity.fields()}
            connection.request("GET", self._path + path + _query(query), headers=fields)
            response = connection.getresponse()
            if response.status != 200:
                _document(response, response.read(), (Any, None))
            # A line that was cut is none.
            whole = itertools.takewhile(lambda line: line.endswith(b"\n"), iter(response.readline, b""))
            yield (line.decode().rstrip("\r\n") for line in whole)
        except (OSError, http.client.HTTPException) as cut:
            raise TiffinError("LOST", f"the stream was cut: {cut or type(cut).__name__}") from cut
        finally:
            connection.close()


def filters(values: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """Filters as keys of a query: any of several values, `{"price": (200, 2000)}` for a range with open ends."""
    found = []
    for key, value in (values or {}).items():
        match value:
            case tuple(ends):
                found.append((key, ",".join("" if end is None else str(end) for end in ends)))
            case list(several):
                found += [(key, each) for each in several]
            case _:
                found.append((key, value))
    return found


def _query(items: Query) -> str:
    words = [(key, {True: "1", False: "0"}[value] if isinstance(value, bool) else str(value))
             for key, value in items if value is not None]
    return f"?{urlencode(words)}" if words else ""


def _document(response: http.client.HTTPResponse, data: bytes, wanted: tuple[Any, str | None]) -> Any:
    kind, member = wanted
    if 200 <= response.status < 300:
        try:
            if not data:
                return None
            document = json.loads(data)
            return read(kind, document[member] if member else document)
        except (ValueError, LookupError, TypeError) as error:
            raise TiffinError("ERR", f"the answer is not what was expected: {error}", response.status) from error
    try:
        problem = json.loads(data)
        code, message = str(problem["code"]), str(problem["detail"])
    except (ValueError, LookupError, TypeError):
        # Somebody in between answered, and nobody knows how far the call got.
        code = "LOST" if response.status in (502, 504) else "ERR"
        message = f"the answer was {response.status} {response.reason}"
    seconds = response.headers.get("Retry-After", "")
    raise TiffinError(code, message, response.status, float(seconds) if seconds.isdigit() else 0.0)
