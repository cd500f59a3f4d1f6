"""Follows an outlet's home: keeps the document up to date by patches alone, and says what changes.

    .venv/bin/python Examples/follow_home.py [OUTLET]

Change something meanwhile, such as `redis-cli -p 7379 MENU.ITEM.PRICE copper-ladle fish-pie 1700`. Stop the server
and start it again: what was missed comes as one patch.
"""

import json
import os
import sys
import time

import jsonpatch
import redis

OUTLET = sys.argv[1] if len(sys.argv) > 1 else "copper-ladle"
URL = os.environ.get("TIFFIN_URL", "redis://127.0.0.1:7379")


class Home:
    """What a screen shows, and the revision that it has."""

    document = None
    revision = 0

    def take(self, answer) -> None:
        """Takes an answer of OUTLET.HOME: a patch from the revision that we have, or a document."""
        if answer is None:
            print(f"revision {self.revision}: nothing has changed", flush=True)
        elif "patch" in answer:
            self.apply(answer)
        else:
            self.document, self.revision = answer, answer["revision"]
            items = sum(len(section["items"]) for section in answer["sections"])
            print(f"revision {self.revision}: {answer['outlet']['name']}, {items} items", flush=True)

    def apply(self, change) -> None:
        self.document = jsonpatch.apply_patch(self.document, change["patch"])
        self.revision = change["to"]
        for operation in change["patch"]:
            if operation["path"] != "/revision":
                value = json.dumps(operation.get("value", operation.get("from")), ensure_ascii=False)
                print(f"revision {self.revision}: {operation['op']} {operation['path']} {value}", flush=True)


def read(server, home) -> None:
    """What has changed since the revision that we have, or all of it."""
    since = ("SINCE", home.revision) if home.document else ()
    answer = server.execute_command("OUTLET.HOME", OUTLET, *since)
    if answer is None and not since:
        sys.exit(f"there is no outlet '{OUTLET}'")
    home.take(json.loads(answer) if answer else None)


def follow(server, home) -> None:
    """Subscribes first and reads then, so that nothing is missed in between."""
    messages = server.pubsub(ignore_subscribe_messages=True)
    messages.subscribe(f"home:{OUTLET}")
    for message in messages.listen():
        change = json.loads(message["data"])
        if "error" in change:
            print(f"the home cannot be shown now: {change['error']['code']}", flush=True)
        elif not change["patch"]:
            # The first message says only where the home is.
            read(server, home)
        elif change["from"] == home.revision:
            home.apply(change)
            if home.document is None:
                sys.exit(f"outlet '{OUTLET}' was removed")
        elif change["to"] != home.revision:
            # What we read was in the middle of these changes.
            read(server, home)


home = Home()
while True:
    try:
        # Without retries of its own, redis-py tells us that the connection was lost.
        with redis.Redis.from_url(URL, decode_responses=True, retry=None) as server:
            follow(server, home)
    except redis.AuthenticationError as error:
        sys.exit(str(error))
    except (redis.ConnectionError, redis.TimeoutError):
        print(f"revision {home.revision}: the server is away", flush=True)
        time.sleep(1)
    except redis.ResponseError as error:
        if not str(error).startswith(("BUSY", "UNAVAILABLE")):
            sys.exit(str(error))
        time.sleep(1)
