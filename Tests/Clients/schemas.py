"""Holds what a server answers to the schemas that it says it keeps to, by a validator of somebody else.

`watch()` has every answer checked that a test gets: over HTTP to docs/openapi.json, over the line protocol to what
its command answers, and messages to their topics. An answer is looked at where something in it is new: a set of
members, a type, a word.
"""

import functools
import http.client
import json
import re
import threading
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match

import tiffin

TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z")
WORDS = {"kind", "status", "state", "code", "by", "on", "why", "style", "op", "role", "service", "missing", "follows", "payment"}
# What a topic's whole document is.
DOCUMENTS = {
    "home": ["Home"], "cart": ["Cart"], "order": ["Order"], "kitchen": ["Kitchen"], "browse": ["SavedItems", "SavedOutlets"],
    "outlets": ["SavedOutlets"], "question": ["SavedItems", "SavedOutlets"],
}

# Older events have other fields (docs/events.md).
FIRST_VERSIONS = {"outlet.registered": 2, "cart.itemAdded": 2, "order.refunded": 2, "order.paymentReported": 2}

formats = FormatChecker(formats=[])
formats.checks("date-time")(lambda value: not isinstance(value, str) or TIMES.fullmatch(value) is not None)


@functools.cache
def openapi() -> dict:
    return json.loads((tiffin.CHECKOUT / "docs" / "openapi.json").read_text())


@functools.cache
def asyncapi() -> dict:
    return json.loads((tiffin.CHECKOUT / "docs" / "asyncapi.json").read_text())


class Schema:
    """A schema of docs/openapi.json, or of another description."""

    def __init__(self, schema: dict, description=openapi):
        root = {**schema, "components": description()["components"]}
        self.validator = Draft202012Validator(root, format_checker=formats)
        self.seen = set()
        self.lock = threading.Lock()

    def check(self, document, what) -> None:
        with self.lock:
            traits = set(self.traits(document))
            if traits <= self.seen:
                return
            error = best_match(self.validator.iter_errors(document))
            assert error is None, f"{what}: {error.json_path}: {error.message[:500]}"
            self.seen |= traits

    @classmethod
    def traits(cls, value, path=""):
        """What is peculiar to a document: at each place the types, the sets of members, and words."""
        if isinstance(value, dict):
            yield path, frozenset(value)
            for name, member in value.items():
                if name in WORDS and isinstance(member, str):
                    yield path, name, member
                yield from cls.traits(member, f"{path}/{name}")
        elif isinstance(value, list):
            yield path, "array"
            for element in value:
                yield from cls.traits(element, f"{path}/*")
        else:
            yield path, type(value)


@functools.cache
def named(names: tuple) -> Schema:
    return Schema({"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in names]})


# --- the line protocol


@functools.cache
def of_command(name: str) -> Schema | None:
    answer = openapi()["x-answers"].get(name)
    return answer and Schema(answer)


@functools.cache
def of_messages() -> Schema:
    return Schema(openapi()["components"]["schemas"]["StreamEvent"]["properties"]["data"])


def check_reply(arguments, reply) -> None:
    """Checks what a command was answered; errors are not looked at."""
    if isinstance(reply, Exception):
        return
    words = [word.decode(errors="replace") if isinstance(word, bytes) else str(word) for word in arguments[:2]]
    if words[0] == "message" and len(words) == 2:
        return check_message(words[1], reply)
    schema = of_command(words[0].upper()) or of_command(" ".join(words).upper())
    # A transaction of Redis, and lists in its words.
    if schema is None or isinstance(reply, tiffin.Simple) or words[0].upper() in ["CLIENT", "SLOWLOG", "LATENCY"]:
        return
    answer = document(reply)
    if words[0].upper() == "LOG.READ":
        return check_events(answer)
    schema.check(answer, words[0])


@functools.cache
def of_events(kind: str) -> Schema | None:
    message = asyncapi()["components"]["messages"].get(kind)
    return message and Schema(message["payload"], asyncapi)


def check_events(answer) -> None:
    """Checks what LOG.READ was answered, each event by its kind. What is no object was damaged, and is shown as it is."""
    events = answer if isinstance(answer, list) else answer["events"]
    damaged = [
        event for event in events
        if not isinstance(event["payload"], dict) or not isinstance(event["metadata"], dict)]
    if not damaged:
        of_command("LOG.READ").check(answer, "LOG.READ")
    for event in events:
        schema = of_events(event["kind"])
        if event not in damaged and schema and event["schemaVersion"] >= FIRST_VERSIONS.get(event["kind"], 1):
            schema.check(event, event["kind"])


def unchecked(arguments, reply) -> None:
    """For a client of a log that was damaged on purpose, which is shown as it is."""


def document(reply):
    if isinstance(reply, list):
        return [json.loads(each) for each in reply]
    if not isinstance(reply, bytes):
        return reply
    return json.loads(reply) if reply[:1] in [b"{", b"["] else reply.decode(errors="replace")


def check_message(topic: str, data) -> None:
    """Checks a message to a subscriber, and the document in it where it has a whole one."""
    message = json.loads(data)
    of_messages().check(message, topic)
    kind = re.split(r"[:?]", topic)[0]
    for operation in message.get("patch", []):
        if operation["path"] == "" and operation["value"] is not None and kind in DOCUMENTS:
            named(tuple(DOCUMENTS[kind])).check(operation["value"], topic)


# --- HTTP


class Operation:
    def __init__(self, path: str, described: dict):
        self.pattern = re.compile(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)))
        self.name = described["operationId"]
        self.codes = described["x-codes"]
        self.answers = {
            int(status): Schema(content["schema"]) for status, answer in described["responses"].items()
            for kind, content in answer.get("content", {}).items() if kind == "application/json"}
        body = described.get("requestBody", {}).get("content", {}).get("application/json")
        self.body = body and Schema(body["schema"])

    def check(self, status: int, kind: str, body: bytes, sent: bytes | None) -> None:
        if status < 300 and sent and self.body:
            self.body.check(json.loads(sent), f"the body of {self.name}")
        if kind == "application/problem+json":
            problem = json.loads(body)
            named(("Problem",)).check(problem, self.name)
            code = problem["code"]
            # What is wrong before it is known which operation is meant.
            assert code == "ERR" or (status, code) in [(404, "NOTFOUND"), (421, "DENIED")] or code in self.codes.get(str(status), []), f"{self.name}: {status} {code}"
        elif kind == "application/json":
            assert status in self.answers, f"{self.name}: {status}"
            answer = json.loads(body)
            self.answers[status].check(answer, self.name)
            if self.name == "readLog":
                check_events(answer)


@functools.cache
def operations() -> list:
    return [
        (method.upper(), Operation(path, described))
        for path, methods in openapi()["paths"].items() for method, described in methods.items()]


def check_answer(method: str, url: str, sent: bytes | None, status: int, kind: str | None, body: bytes) -> None:
    path = urlsplit(url).path
    method = "GET" if method == "HEAD" else method
    for known, operation in operations():
        if known == method and body and operation.pattern.fullmatch(path):
            return operation.check(status, kind, body, sent)


def watch() -> None:
    """Has all answers checked that this process gets from now on."""
    tiffin.Client.on_reply = staticmethod(check_reply)
    connection, response = http.client.HTTPConnection, http.client.HTTPResponse
    request, getresponse, read = connection.request, connection.getresponse, response.read

    def requesting(self, method, url, body=None, *arguments, **options):
        self.asked = (method, url, body)
        return request(self, method, url, body, *arguments, **options)

    def responding(self):
        answer = getresponse(self)
        answer.asked = self.asked
        return answer

    def reading(self, amount=None):
        body = read(self) if amount is None else read(self, amount)
        if amount is None and getattr(self, "asked", None):
            check_answer(*self.asked, self.status, self.headers.get_content_type(), body)
        return body

    connection.request, connection.getresponse, response.read = requesting, responding, reading
