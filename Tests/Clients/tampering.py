"""Statements that change events: `tiffin.events` is a view, which only tests can write to."""

from pathlib import Path

from tiffin import sql

WRITABLE_EVENTS = Path(__file__).with_suffix(".sql").read_text()


def tamper(statement: str, url: str) -> str:
    """Runs SQL that may insert, update and delete rows of `tiffin.events`, in one transaction."""
    return sql(WRITABLE_EVENTS + statement, url)


def insert_event(database, position, stream, version, kind, schema, payload):
    quoted = payload.replace("'", "''")
    tamper(f"""
        insert into tiffin.events values (0, {position}, '{stream}', {version}, '{kind}', {schema}, '{quoted}', '{{}}', now());
        update tiffin.log_head set position = {position};
    """, database)
