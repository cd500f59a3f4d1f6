"""Takes what `tiffin relay` posts: checks each signature, keeps each event once, and prints it.

    TIFFIN_WEBHOOK_SECRET=$(tiffin relay --show-secret) python3 Examples/webhook_receiver.py [PORT [FILE]]
    tiffin relay --to http://127.0.0.1:8000/ --only order

The events are in the SQLite database FILE, inbox.db. So whatever is stopped and started again, and whatever is posted
twice, each is printed once.
"""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import sqlite3
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
FILE = sys.argv[2] if len(sys.argv) > 2 else "inbox.db"
KEY = base64.b64decode(os.environ["TIFFIN_WEBHOOK_SECRET"].removeprefix("whsec_"))
# An event has at most some MiB, and its signature is not older than this.
LONGEST, SECONDS = 64 * 1024 * 1024, 300

inbox = sqlite3.connect(FILE)
inbox.execute("create table if not exists events (id text primary key, event text not null)")


def is_genuine(headers, body: bytes) -> bool:
    """Whether somebody who knows the secret has signed this, not long ago."""
    moment = headers.get("webhook-timestamp", "")
    if not moment.isdecimal() or abs(time.time() - int(moment)) > SECONDS:
        return False
    signed = f"{headers.get('webhook-id', '')}.{moment}.".encode() + body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    # There can be several, as while a secret is replaced.
    signatures = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(signature.encode(), f"v1,{expected}".encode()) for signature in signatures)


def take(identifier: str, body: bytes) -> None:
    """Keeps an event, and does what is to be done about it, unless that was done before: in one transaction."""
    with inbox:
        added = inbox.execute("insert or ignore into events values (?, ?)", (identifier, body.decode()))
        if added.rowcount:
            event = json.loads(body)
            print(identifier, event["stream"], event["kind"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LONGEST:
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_genuine(self.headers, body):
            return self.answer(401)
        take(self.headers["webhook-id"], body)
        # Only now: the relay posts the next event once this one is taken.
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


with HTTPServer(("127.0.0.1", PORT), Receiver) as server, contextlib.suppress(KeyboardInterrupt):
    print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
