"""The role of auditors: what it can read, column by column, and that everything else is refused."""

import re
import subprocess
from pathlib import Path

import pytest

from tiffin import (
    PATIENCE_SECONDS, Server, fresh_database, item_document, put_open_outlet, run_tiffin, section_document, sql,
)

PASSWORD = "correct horse"
# What auditors read. A table or a column that is not here has to be refused: to open it takes a line here and a grant.
WHOLE = {
    "archive", "batch_events", "batches", "cart_count_rows", "cart_counts", "catalogue", "commits", "events",
    "functions", "leases", "log_head", "migrations", "order_rows", "orders", "outlet_home", "outlet_home_rows",
    "partition_count", "process_rows", "processes", "projection_checkpoints", "quarantine", "relay_cursors",
    "relay_deliveries", "signed_heads", "stream_index", "supply", "supply_rows", "takings", "takings_rows", "tree_nodes",
    "user_revision",
}
IN_PART = {
    "customer_keys": {"partition", "customer", "created_at", "forgotten_at"},
    "relays": {"name", "created_at"},
    "servers": {"id", "address", "started_at", "seen_at"},
    "users": {"name", "role", "grants", "enabled", "created_at", "removed_at", "revision"},
}
COLUMNS = """
    select c.relname, a.attname from pg_attribute as a join pg_class as c on c.oid = a.attrelid
    where c.relnamespace = 'tiffin'::regnamespace and a.attnum > 0 and not a.attisdropped
        and c.relkind in ('r', 'v', 'm', 'p', 'f', 'S') order by 1, 2"""
# Functions that run as their owner, and so could read or change what their caller may not.
PRIVILEGED = """
    select oid::regprocedure from pg_proc where pronamespace = 'tiffin'::regnamespace and prosecdef order by 1"""


@pytest.fixture(scope="module")
def served():
    """The address of a database in which secrets have been made, as its owner and as an auditor."""
    with fresh_database() as url:
        assert run_tiffin("migrate", "--database", url).returncode == 0
        auditor = f"auditor_{url.rpartition('_')[2].partition('?')[0]}"
        sql(f"create role {auditor} login; grant tiffin_auditor to {auditor}", url)
        try:
            with Server(database=url) as server, server.client() as client:
                put_open_outlet(
                    client, "kitchen", [section_document("all", [item_document("tea", 100)])], minimumOrder=0)
                client("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", "no sugar", "CUSTOMER", "asha")
            run = run_tiffin("user", "add", "root", "--role", "admin", "--database", url, text=f"{PASSWORD}\n")
            assert run.returncode == 0, run
            assert run_tiffin("user", "token", "root", "--database", url).returncode == 0
            assert run_tiffin("relay", "--show-secret", "--name", "till", "--database", url).returncode == 0
            yield url, url.replace("postgres@", f"{auditor}@")
        finally:
            sql(f"drop owned by {auditor}; drop role {auditor}", url)


def refused(address, statements):
    """Those of the statements that their user has no permission for; the others succeed."""
    tries = "".join(
        f"begin execute $q${statement}$q$; exception when insufficient_privilege then raise notice 'refused {n}'; end; "
        for n, statement in enumerate(statements))
    command = ["psql", "--no-psqlrc", "--quiet", "-v", "ON_ERROR_STOP=1", "--command", f"do $do$ begin {tries}end $do$"]
    run = subprocess.run([*command, address], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert run.returncode == 0, run.stderr
    return {statements[int(number)] for number in re.findall(r"refused (\d+)", run.stderr)}


def test_an_auditor_reads_what_is_named_and_no_other_column_of_any_table(served):
    owner, auditor = served
    columns = [tuple(row.split("|")) for row in sql(COLUMNS, owner).splitlines()]
    assert {table for table, _ in columns} >= WHOLE | IN_PART.keys()
    reads = {f'select "{column}" from tiffin."{table}"': (table, column) for table, column in columns}
    hidden = {reads[statement] for statement in refused(auditor, list(reads))}
    assert hidden == {
        (table, column) for table, column in columns if table not in WHOLE and column not in IN_PART.get(table, ())}
    assert hidden >= {
        ("users", "password"), ("users", "tokens"), ("relays", "secret"), ("customer_keys", "key"), ("servers", "secret")}
    # By rows as a whole neither.
    rows = [f"select t from tiffin.{table} as t" for table in IN_PART]
    assert refused(auditor, rows) == set(rows)


def test_an_auditor_changes_nothing_and_acts_as_nobody_else(served):
    owner, auditor = served
    tables = {row.split("|")[0] for row in sql(COLUMNS, owner).splitlines()}
    may = " union all ".join(
        f"select has_table_privilege('tiffin_auditor', 'tiffin.{table}', "
        "'insert, update, delete, truncate, references, trigger')" for table in tables)
    assert set(sql(may, owner).splitlines()) == {"f"}
    may = " union all ".join(
        f"select has_any_column_privilege('tiffin_auditor', 'tiffin.{table}', 'insert, update, references')"
        for table in tables)
    assert set(sql(may, owner).splitlines()) == {"f"}
    functions = sql(PRIVILEGED, owner).splitlines()
    assert "tiffin.customer_key(smallint,text,bytea)" in functions
    asked = " union all ".join(
        f"select has_function_privilege('tiffin_auditor', '{function}', 'execute')" for function in functions)
    assert set(sql(asked, owner).splitlines()) == {"f"}
    others = ["set role tiffin_server", "create table tiffin.mine (n int)", "create function tiffin.f() returns int "
              "language sql as 'select 1'", "alter role tiffin_auditor superuser"]
    assert refused(auditor, others) == set(others)
    assert sql("select rolcanlogin or rolsuper or rolcreaterole or rolcreatedb or rolbypassrls from pg_roles "
               "where rolname = 'tiffin_auditor'", owner) == "f"


def test_an_auditor_can_do_all_that_an_audit_takes(served):
    owner, auditor = served
    for words in (("audit",), ("replay", "orders"), ("why", "cart", "c"), ("log",)):
        run = run_tiffin(*words, "--database", auditor)
        assert run.returncode == 0, run
        if words[0] == "why":
            assert 'note "[sealed]"' in run.stdout, run
    # Receipts can be checked in SQL, too.
    assert sql("select count(*) from tiffin.events_of('cart-c')", auditor) == "1"
    assert sql("select count(tiffin.canonical_bytes(stream, version, kind, schema_version, payload, metadata, "
               "recorded_at)) from tiffin.events_between(0, 1, 3)", auditor) == "3"
    for words in (("forget", "asha"), ("user", "list"), ("user", "remove", "root"), ("relay", "--show-secret")):
        run = run_tiffin(*words, "--database", auditor)
        assert run.returncode == 1 and "permission denied" in run.stderr, run


def test_who_may_not_create_the_role_is_told_what_to_do(served):
    owner, _ = served
    # A role of that name stands for one that is missing: what is missing here belongs to every database.
    text = (Path(__file__).parents[2] / "migrations" / "0015_auditor.sql").read_text()
    name = f"owner_{owner.rpartition('_')[2].partition('?')[0]}"
    sql(f"create role {name} login", owner)
    try:
        with pytest.raises(RuntimeError, match="the role missing_auditor is missing, .*\n.*HINT: .*CREATE ROLE"):
            sql(text.replace("tiffin_auditor", "missing_auditor"), owner.replace("postgres@", f"{name}@"))
    finally:
        sql(f"drop role {name}", owner)
