"""What a server answers fits the schemas that it prints, under load as well, and what does not fit is noticed."""

import json
import queue
import threading
from contextlib import closing
from http.client import HTTPConnection

import pytest
from jsonschema import Draft202012Validator

import schemas
from monkeys import SHORT, SMALL, Recording, Tampering, run_monkey
from test_missing import PICTURE
from tiffin import (
    CHECKOUT, PATIENCE_SECONDS, REPLY_SECONDS, Client, Push, Server, fresh_database, item_document, put_open_outlet,
    run_tiffin, section_document,
)

# In RESP3 they are answered by pushes alone.
PUSHED = [b"SUBSCRIBE", b"UNSUBSCRIBE"]


class Watching(Tampering):
    """A proxy that checks every answer, and what is pushed."""

    def __init__(self, server):
        super().__init__(server)
        self.asked, self.lock = {}, threading.Lock()
        self.checked, self.problems = set(), []

    def _reader(self, socket):
        reader = Client.__new__(Client)
        reader.file, reader.on_reply = Recording(socket.makefile("rb")), self._check
        return reader

    def _check(self, words, reply):
        try:
            schemas.check_reply(words, reply)
            self.checked.add(words[0].upper())
        except AssertionError as problem:
            self.problems.append(str(problem))

    def _queue(self, socket):
        with self.lock:
            return self.asked.setdefault(socket, queue.SimpleQueue())

    def _requests(self, client, server):
        reader = self._reader(client)
        try:
            while words := reader.read():
                if words[0].upper() not in PUSHED:
                    self._queue(server).put(words)
                frame, reader.file.kept = reader.file.kept, b""
                server.sendall(frame)
        except (OSError, EOFError, ValueError):
            client.close()

    def _replies(self, client, server):
        reader = self._reader(server)
        try:
            while True:
                reply = reader.read()
                if not isinstance(reply, Push):
                    self._check(self._queue(server).get(timeout=PATIENCE_SECONDS), reply)
                frame, reader.file.kept = reader.file.kept, b""
                client.sendall(frame)
        except (OSError, EOFError, ValueError):
            server.close()


def test_every_answer_of_a_run_fits_its_schema(server, tmp_path):
    with Watching(server) as proxy:
        run_monkey(tmp_path, proxy, *SHORT, *SMALL)
    assert proxy.problems == []
    assert {b"CART.ADD", b"CART.GET", b"CART.QUOTE", b"OUTLET.HOME", b"ORDER.GET", b"KITCHEN", b"LOG.READ"} <= proxy.checked


def test_every_list_of_the_console_fits_its_schema():
    """Most of them are shown by pages alone. What has to be there for a row in each is made first."""
    options = ["--console", "127.0.0.1:0", "--slowlog-log-slower-than", 0]
    with fresh_database() as database, Server(database=database, options=map(str, options)) as server:
        with server.client() as client:
            put_open_outlet(client, "here", [section_document("s", [item_document("rice", 100)])])
            client("CART.ADD", "c", "here", "rice", 1)
            lists = [path for path, methods in schemas.openapi()["paths"].items() if "{" not in path and "get" in methods]
            answered = {}
            with closing(HTTPConnection(server.site("console"), timeout=REPLY_SECONDS)) as connection:
                connection.request("PUT", "/v1/outlets/here/pictures", PICTURE, {"Content-Type": "image/jpeg"})
                answered["picture"] = json.loads(connection.getresponse().read())
                for path in lists:
                    if path == "/v1/stream":
                        continue
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    answered[path] = json.loads(answer.read() or "null")
        assert answered["/v1/slowlog"]["commands"] and answered["/v1/clients"]["clients"]
        assert answered["picture"]["path"].startswith("/pictures/")


def test_what_does_not_fit_is_noticed(client, name, outlet):
    cart = f"cart-{name}"
    client("CART.ADD", cart, outlet, "rice", 1)
    document = client.json("CART.GET", cart)
    for wrong in [{**document, "more": 1}, {**document, "count": "1"}, {**document, "status": "full"}]:
        with pytest.raises(AssertionError):
            schemas.check_reply(["CART.GET", cart], json.dumps(wrong).encode())
    del document["total"]
    with pytest.raises(AssertionError):
        schemas.check_reply(["CART.GET", cart], json.dumps(document).encode())
    [event] = client("LOG.READ", "STREAM", f"cart-{cart}")
    event = json.loads(event)
    event["payload"]["more"] = 1
    with pytest.raises(AssertionError):
        schemas.check_reply(["LOG.READ"], [json.dumps(event).encode()])


def test_the_executable_prints_every_schema_and_both_descriptions():
    names = run_tiffin("schema").stdout.split()
    assert {"Cart", "Home", "Order", "order.placed"} < set(names)
    run = run_tiffin("schema", *names)
    assert (run.returncode, run.stderr) == (0, "")
    for name, line in zip(names, run.stdout.splitlines(), strict=True):
        Draft202012Validator.check_schema(schema := json.loads(line))
        assert schema["title"] == name
    for name in ["openapi", "asyncapi"]:
        printed = json.loads(run_tiffin("schema", f"--{name}").stdout)
        assert printed == json.loads((CHECKOUT / "docs" / f"{name}.json").read_text())
    run = run_tiffin("schema", "Nothing")
    assert (run.returncode, run.stdout) == (64, "") and "no document and no event 'Nothing'" in run.stderr
