"""What clients and operators learn when the database does not do what it should."""

import contextlib
from urllib.parse import urlsplit

import pytest

from test_damage import MENU
from tiffin import Server, fresh_database, open_transaction, put_open_outlet, run_tiffin, sql, wait_until

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
    sql(END_SESSIONS, database)


@contextlib.contextmanager
def closed(database):
    sql(f"alter database {name_of(database)} allow_connections false")
    sql(END_SESSIONS.replace("current_database()", f"'{name_of(database)}'"))
    yield "the database cannot be reached", name_of(database)
    sql(f"alter database {name_of(database)} allow_connections true")


@contextlib.contextmanager
def locked(database):
    with open_transaction(database, "select position from tiffin.log_head for update"):
        yield "somebody else holds a lock in the database", "55P03"


@contextlib.contextmanager
def refusing(database):
    sql("alter table tiffin.batches add constraint secret_limit check (first_position < 0) not valid", database)
    yield "the log in the database is damaged", "secret_limit"


@contextlib.contextmanager
def lacking(database):
    sql("alter function tiffin.append rename to secret_name", database)
    yield "the database does not have what the server needs, or does not let it", "tiffin.append"


@pytest.mark.parametrize("trouble", [read_only, closed, locked, refusing, lacking])
def test_clients_learn_what_happened_and_the_log_has_the_details(database, trouble):
    with Server(database=database) as server:
        with server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            assert client("CART.ADD", "c", "kitchen", "tea", 1) == 1
            with trouble(database) as (sentence, detail):
                error = client.error("CART.ADD", "c", "kitchen", "tea", 1)
                if error.code == "UNKNOWN":
                    # The connection was lost under the first.
                    error = client.error("CART.ADD", "c", "kitchen", "tea", 1)
                assert str(error) == f"UNAVAILABLE nothing was accepted: {sentence}"
                wait_until(lambda: detail in server.output(), 10, "the details in the log")
                assert client("CART.COUNT", "c") == 1


def test_a_user_who_may_not_act_as_the_server_learns_what_to_grant(database, name):
    assert run_tiffin("migrate", "--database", database).returncode == 0
    user = f"{name}_{name_of(database)}"
    with fresh_database() as own:
        sql(f"create role {user} login createrole; alter database {name_of(own)} owner to {user}")
        server = Server(database=own.replace("postgres@", f"{user}@"))
        try:
            server.launch()
            assert server.wait_until_ended() == 1
            assert f"the database's user '{user}' may not act as tiffin_server" in server.output()
            assert f'GRANT tiffin_server TO "{user}"' in server.output()
            sql(f'GRANT tiffin_server TO "{user}"')
            with server, server.client() as client:
                put_open_outlet(client, "kitchen", MENU)
        finally:
            sql(f"alter database {name_of(own)} owner to current_user; reassign owned by {user} to current_user", own)
            sql(f"drop owned by {user}; drop role {user}", own)
