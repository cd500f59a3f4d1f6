"""Statements that change events: `tiffin.events` is a view, which only tests can write to."""

from hashlib import sha256
from pathlib import Path

from tiffin import sql

WRITABLE_EVENTS = Path(__file__).with_suffix(".sql").read_text()


def tamper(statement: str, url: str) -> str:
    """Runs SQL that may insert, update and delete rows of `tiffin.events`, in one transaction."""
    # An audit names triggers.
    return sql(f"{WRITABLE_EVENTS}{statement.rstrip().rstrip(';')}; drop trigger write_event on tiffin.events", url)


def insert_event(database, position, stream, version, kind, schema, payload):
    quoted = payload.replace("'", "''")
    tamper(f"""
        insert into tiffin.events values (0, {position}, '{stream}', {version}, '{kind}', {schema}, '{quoted}', '{{}}', now());
        update tiffin.log_head set position = {position};
    """, database)


# What the digest of a row covers, for each projection whose rows tests forge.
COVERED = {
    "cart_counts": ("cart_count_rows", ["cart", "count", "version"]),
    "outlet_home": ("outlet_home_rows", ["outlet", "revision", "snapshot"]),
}


def forge(statement: str, url: str) -> None:
    """Runs SQL that changes saved rows, and gives their checkpoints the digests of what is there then: only the log shows
    that a server never saved it."""
    sql(statement, url)
    for projection, (table, columns) in COVERED.items():
        covered = " || '\\x00'::bytea || ".join(f"convert_to(r.{column}::text, 'UTF8')" for column in columns)
        checkpoints = sql(
            f"select partition || ' ' || generation from tiffin.projection_checkpoints where projection = '{projection}'", url)
        for place in checkpoints.splitlines():
            partition, generation = place.split()
            rows = sql(f"select encode({covered}, 'hex') from tiffin.{table} as r "
                       f"where partition = {partition} and generation = {generation}", url).split()
            rows += sql("select encode('\\x00'::bytea || convert_to(stream, 'UTF8') || '\\x00' || "
                        "convert_to(position::text, 'UTF8'), 'hex') from tiffin.quarantine "
                        f"where projection = '{projection}' and partition = {partition} and generation = {generation}",
                        url).split()
            # A sum of each 8 bytes of the rows' digests.
            lanes = [0] * 4
            for row in rows:
                digest = sha256(bytes.fromhex(row)).digest()
                lanes = [(lane + int.from_bytes(digest[8 * n:8 * n + 8], "big")) % 2**64 for n, lane in enumerate(lanes)]
            total = b"".join(lane.to_bytes(8, "big") for lane in lanes).hex()
            sql(f"update tiffin.projection_checkpoints set digest = '\\x{total}' where projection = '{projection}' "
                f"and partition = {partition} and generation = {generation}", url)
