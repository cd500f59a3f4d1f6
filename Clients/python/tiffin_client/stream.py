"""Documents that are kept up to date by a stream of events."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, Union
from urllib.parse import urlencode

from .connection import Connection, filters, pause
from .errors import TiffinError
from .patch import PatchError, apply_patch
from .reading import read

# The server sends a comment every 15 seconds.
LONGEST_SILENCE_SECONDS = 40.0
LONGEST_PAUSE_SECONDS = 15.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Live(Generic[T]):
    """The document is what the server has now."""

    document: T
    revision: int
    state: Literal["live"] = "live"


@dataclass(frozen=True, slots=True)
class Away(Generic[T]):
    """The stream was cut and is being opened again. The document is the last one that came, if any."""

    document: T | None
    revision: int | None
    state: Literal["away"] = "away"


@dataclass(frozen=True, slots=True)
class Gone:
    """There is no such document, or it cannot be shown, and then `error` says why."""

    revision: int | None
    error: TiffinError | None = None
    document: None = None
    state: Literal["gone"] = "gone"


# Where a topic stands; `state` tells which.
Update = Union[Live[T], Away[T], Gone]


def follow(connection: Connection, topic: str, kind: Any, patience: float | None = None) -> Iterator[Update[Any]]:
    """Each state of a topic, such as `order:2c0f…`, from now on, for as long as somebody takes the next one.

    After a cut it goes on from the revision that it has, so nothing is missed. A document comes whole; changes that
    follow closely come as one. Raises TiffinError if the server refuses the topic, and once it has been away for
    `patience` seconds.
    """
    document, revision, is_known, is_live = None, None, False, False
    attempt, heard = 0, time.monotonic()
    while True:
        try:
            opened = topic if revision is None else f"{topic}@{revision}"
            with connection.lines("/v1/stream", [("t", opened)], LONGEST_SILENCE_SECONDS) as lines:
                for message in _messages(lines):
                    attempt, heard, is_live = -1, time.monotonic(), True
                    if "error" in message:
                        refusal = TiffinError(message["error"]["code"], message["error"]["message"], 200)
                        yield Gone(revision, refusal)
                        continue
                    patch = message["patch"]
                    if not _is_whole(patch) and not (is_known and message["from"] == revision):
                        if is_known and message["to"] <= revision:
                            continue
                        raise PatchError("changes are missing")
                    document, revision, is_known = apply_patch(document, patch), message["to"], True
                    yield Gone(revision) if document is None else Live(read(kind, document), message["to"])
        except PatchError:
            # The next stream begins with the whole document.
            document, revision, is_known = None, None, False
        except TiffinError as error:
            # A stream that was cut may still count among those that are open.
            if not error.is_temporary and not (error.code == "LIMIT" and is_known):
                raise
            if patience is not None and time.monotonic() - heard > patience:
                raise
        attempt += 1
        if is_live:
            is_live = False
            yield Away(None if document is None else read(kind, document), revision)
        time.sleep(pause(attempt, LONGEST_PAUSE_SECONDS))


def question(command: str, values: Mapping[str, Any]) -> str:
    """The topic of a question: a command, and filters as behind its route."""
    return f"{command}?{urlencode(filters(values))}"


def _is_whole(patch: list) -> bool:
    return len(patch) == 1 and patch[0]["op"] == "replace" and patch[0]["path"] == ""


def _messages(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    data: list[str] = []
    for line in lines:
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            yield json.loads("\n".join(data))
            data = []
