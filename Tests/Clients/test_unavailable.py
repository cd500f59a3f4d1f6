"""What clients and operators learn when the database does not do what it should."""

import contextlib
from urllib.parse import urlsplit

import pytest

from test_damage import MENU
from tiffin import (
    Server, fresh_database, open_transaction, put_open_outlet, run_tiffin, sql, until_served, wait_until)

END_SESSIONS = (
    "select pg_terminate_backend(pid) from pg_stat_activity "
    "where datname = current_database() and pid <> pg_backend_pid() and application_name like 'tiffin%'"
)


def name_of(database):
    return urlsplit(database).path.removeprefix("/")


@contextlib.contextmanager
def read_only(database):
    sql(f"alter database {name_of(database)} set default_transaction_read_only = on", database)
    sql(END_SESSIONS, database)
    yield "the database is read-only", "25006"
    sql(f"alter database {name_of(database)} reset default_transaction_read_only")


@contextlib.contextmanager
def closed(database):
    sql(f"alter database {name_of(database)} allow_connections false")
    sql(END_SESSIONS.replace("current_database()", f"'{name_of(database)}'"))
    yield "the database cannot be reached", name_of(database)
    sql(f"alter database {name_of(database)} allow_connections true")


@contextlib.contextmanager
def full(database):
    # Nobody but a superuser is let in.
    sql(f"alter database {name_of(database)} connection limit 0; {END_SESSIONS}", database)
    yield "the database takes no more connections", "53300"
    sql(f"alter database {name_of(database)} connection limit -1", database)


@contextlib.contextmanager
def locked(database):
    with open_transaction(database, "select position from tiffin.log_head for update"):
        yield "somebody else holds a lock in the database", "55P03"


@contextlib.contextmanager
def refusing(database):
    sql("alter table tiffin.batches add constraint secret_limit check (first_position < 0) not valid", database)
    yield "the log in the database is damaged", "secret_limit"
    sql("alter table tiffin.batches drop constraint secret_limit", database)


@contextlib.contextmanager
def lacking(database):
    sql("alter function tiffin.append rename to secret_name", database)
    yield "the database does not have what the server needs, or does not let it", "tiffin.append"
    sql("alter function tiffin.secret_name rename to append", database)


def refusal(client):
    error = client.error("CART.ADD", "c", "kitchen", "tea", 1)
    # The connection was lost under the first.
    return str(client.error("CART.ADD", "c", "kitchen", "tea", 1) if error.code == "UNKNOWN" else error)


@pytest.mark.parametrize("trouble", [read_only, closed, full, locked, refusing, lacking])
def test_clients_learn_what_happened_and_the_log_has_the_details(database, shop_keeper, trouble):
    with Server(database=shop_keeper) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        assert client("CART.ADD", "c", "kitchen", "tea", 1) == 1
        with trouble(database) as (sentence, detail):
            assert refusal(client) == f"UNAVAILABLE nothing was accepted: {sentence}"
            wait_until(lambda: detail in server.output(), "the details in the log")
            assert client("CART.COUNT", "c") == 1
            assert b"partition0_trouble:none\r\n" not in client("INFO", "log")
        assert until_served(client, "CART.ADD", "c", "kitchen", "tea", 1) == 2
        assert b"partition0_trouble:none\r\n" in client("INFO", "log")


CODES = {
    "25006": "the database is read-only",
    "40P01": "somebody else holds a lock in the database",
    "53100": "the database's disk is full",
    "53200": "the database lacks memory, disk or the like",
    "57014": "the database did not answer in time",
    "58030": "the database's disk fails",
    "XX001": "the log in the database is damaged",
    "54000": "the database refused",
}


def test_every_code_has_its_sentence(database):
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        for code, sentence in CODES.items():
            sql("create or replace function tiffin.refuse() returns trigger language plpgsql as "
                f"$$ begin raise exception 'secret' using errcode = '{code}'; end $$", database)
            if code == "25006":
                sql("create trigger refuse before insert on tiffin.batches execute function tiffin.refuse()", database)
            assert refusal(client) == f"UNAVAILABLE nothing was accepted: {sentence}"
            wait_until(lambda: f"secret (SQLSTATE {code})" in server.output(), "the details in the log")


@pytest.fixture
def user_and_url(database):
    """A user who owns the database and is no superuser, and the database's address as that user."""
    # The role exists, and somebody else made it.
    with fresh_database() as other:
        assert run_tiffin("migrate", "--database", other).returncode == 0
    user = f"user_of_{name_of(database)}"
    sql(f"create role {user} login createrole; alter database {name_of(database)} owner to {user}")
    yield user, database.replace("postgres@", f"{user}@")
    sql(f"reassign owned by {user} to current_user; drop owned by {user}; drop role {user}", database)


@pytest.fixture
def shop_keeper(user_and_url):
    """The address as somebody who may act as the server."""
    user, url = user_and_url
    sql(f"grant tiffin_server to {user}")
    return url


def test_a_user_who_may_not_act_as_the_server_learns_what_to_grant(user_and_url):
    user, url = user_and_url
    server = Server(database=url).launch()
    assert server.wait_until_ended() == 1
    server.wait_for_output(f"the database's user '{user}' may not act as tiffin_server")
    server.wait_for_output(f'GRANT tiffin_server TO "{user}"')
    sql(f'GRANT tiffin_server TO "{user}"')
    with server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
