"""Why there is no answer."""

from typing import Literal, TypeAlias

# What the server says, and LOST of this client. docs/protocol.md says when; there may be more one day.
Code: TypeAlias = Literal[
    "ERR", "INVALID", "NOAUTH", "WRONGPASS", "DENIED", "NOPERM", "READONLY", "NOTFOUND", "CONFLICT", "SOLDOUT",
    "CLOSED", "WRONGOUTLET", "STATE", "LIMIT", "TOTALCHANGED", "CHOICE", "REQUIRED", "NOSLOT", "PROMO", "FORGOTTEN",
    "IDMISMATCH", "CORRUPT", "BUSY", "LOADING", "UNAVAILABLE", "UNKNOWN", "LOST",
]

# After these, nothing has changed and the same may succeed later.
_REFUSED_FOR_NOW = {"BUSY", "LOADING", "UNAVAILABLE"}
_TEMPORARY = {429, 502, 503, 504}


class TiffinError(Exception):
    """A refusal, or that no answer came.

    `code` is for programs and does not change, `message` is for people, and `status` is that of HTTP. With `LOST`
    nobody answered in time, and the status is 0. After `LOST` and `UNKNOWN` nobody knows whether a write was done;
    after every other code it was not.
    """

    def __init__(self, code: str, message: str, status: int = 0, retry_after: float = 0.0):
        super().__init__(f"{code} {message}")
        self.code: Code | str = code
        self.message = message
        self.status = status
        # The least seconds before the next attempt.
        self.retry_after = retry_after

    @property
    def leaves_doubt(self) -> bool:
        """Whether a write may have been done all the same."""
        return self.code in ("LOST", "UNKNOWN")

    @property
    def is_temporary(self) -> bool:
        """Whether the same may succeed later."""
        return self.leaves_doubt or self.code in _REFUSED_FOR_NOW or self.status in _TEMPORARY
