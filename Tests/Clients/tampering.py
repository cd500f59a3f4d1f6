"""Statements that change events: `tiffin.events` is a view, which only tests can write to."""

from pathlib import Path

from tiffin import sql

WRITABLE_EVENTS = Path(__file__).with_suffix(".sql").read_text()


def tamper(statement: str, url: str) -> str:
    """Runs SQL that may insert, update and delete rows of `tiffin.events`, in one transaction."""
    return sql(WRITABLE_EVENTS + statement, url)
