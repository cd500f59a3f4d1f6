"""A web server on this machine that takes what a relay posts, or fails in every way that it can."""

import base64
import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


REFUSALS = {"refuse": 500, "gone": 410, "busy": 503}


class Receiver:
    """Does with each request what `plan` says next, and takes it once the plan is over.

    take, refuse (500), gone (410), busy (503), redirect, cut (ends the connection), hang (answers nothing), late (answers when the
    relay has given up and asks again); kill-before and kill-after: calls `kill`, and has the request taken or not. Before
    all that, it refuses the ids in `refused`. `retry_after` is the header of refusals."""

    def __init__(self, plan=(), kill=None):
        self.plan, self.kill, self.refused = list(plan), kill, set()
        self.retry_after = None
        self.requests = []  # (path, headers, body, when)
        self.taken = []  # the ids that were answered with 200, in order
        self.before = []  # how many were taken when each request came
        self.news = threading.Condition()
        self.stopping = False
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.answer(self, body)

            def do_GET(self):
                receiver.answer(self, b"")

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        # A relay that was killed, or has given up, reads no answer.
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.news:
            self.stopping = True
            self.news.notify_all()
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/events"

    def attempts(self, identifier) -> int:
        """How often an event was posted."""
        return sum(headers["webhook-id"] == identifier for _, headers, _, _ in self.requests)

    def answer(self, request, body):
        with self.news:
            self.requests.append((request.path, dict(request.headers), body, time.time()))
            self.before.append(len(self.taken))
            number = len(self.requests)
            refuses = request.headers["webhook-id"] in self.refused
            action = "refuse" if refuses else self.plan.pop(0) if self.plan else "take"
            self.news.notify_all()
            if action == "hang":
                self.news.wait_for(lambda: self.stopping, 20)
            if action == "late":
                self.news.wait_for(lambda: self.stopping or len(self.requests) > number, 20)
        if action in ("kill-before", "kill-after"):
            if action == "kill-after":
                self._reply(request, 200)
            self.kill()
        elif action in ("take", "late"):
            self._reply(request, 200)
        elif action == "redirect":
            self._reply(request, 302, Location="/elsewhere")
        elif action in REFUSALS:
            self._reply(request, REFUSALS[action], **({"Retry-After": self.retry_after} if self.retry_after else {}))
        request.close_connection = True

    def _reply(self, request, status, **headers):
        with self.news:
            if status == 200:
                self.taken.append(request.headers["webhook-id"])
                self.news.notify_all()
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", "0")
        request.end_headers()
        request.wfile.flush()

    def wait_for(self, condition, seconds=30):
        with self.news:
            assert self.news.wait_for(condition, seconds), f"waited {seconds} s; taken: {self.taken[-5:]}"


def is_signed(secret: str, headers: dict, body: bytes) -> bool:
    """Whether a message is what Standard Webhooks make of the body with the secret."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return hmac.compare_digest(headers["webhook-signature"], expected)


def check(receiver, secret, documents, given_up=()):
    """What was posted is what the log has, each stream in its order, signed, and nothing was skipped.

    `documents` are the bytes of events by their ids; `given_up` the ids of those that may never be taken."""
    previous, last = {}, {}
    for identifier, document in documents.items():
        event = json.loads(document)
        previous[identifier] = last.get(event["stream"])
        last[event["stream"]] = identifier
    for (path, headers, body, when), count in zip(receiver.requests, receiver.before):
        assert path == "/events", "a redirect was followed"
        identifier = headers["webhook-id"]
        assert body == documents[identifier]
        assert is_signed(secret, headers, body)
        assert abs(int(headers["webhook-timestamp"]) - when) <= 3
        assert headers["Content-Type"] == "application/json"
        earlier = previous[identifier]
        assert earlier is None or earlier in given_up or earlier in receiver.taken[:count], (
            f"{identifier} came before {earlier}")
    assert set(receiver.taken) | set(given_up) == set(documents)
