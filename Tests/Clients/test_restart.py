"""A server shows the same after a restart; its log and migrations as commands."""

import signal
from pathlib import Path

import pytest

from tiffin import Server, item_document, put_open_outlet, read_log, run_tiffin, section_document, sql, wait_until


def fill(client):
    sections = [section_document("all", [item_document("tea", 5000), item_document("bun", 4000)])]
    put_open_outlet(client, "kitchen", sections)
    for n in range(20):
        client("CART.ADD", f"cart-{n}", "kitchen", "tea", n + 1, "NOTE", f"table {n}")
        client("CART.ADD", f"cart-{n}", "kitchen", "bun", 1)
    return client("CART.CHECKOUT", "cart-0", "TOTAL", 9000)


def everything(client, order):
    return [
        client("OUTLET.GET", "kitchen"), client("MENU.GET", "kitchen"), client("OUTLET.HOME", "kitchen"),
        *(client("CART.GET", f"cart-{n}") for n in range(20)), client("ORDER.GET", order), client("LOG.HEAD"),
    ]


@pytest.mark.parametrize("log", ["database", "data_dir"])
def test_everything_is_the_same_after_a_stop_and_after_a_kill(request, log):
    server = Server(**{log: request.getfixturevalue(log)})
    try:
        with server.start().client() as client:
            order = fill(client)
            before = everything(client, order)
        for end, status in (
                (lambda: server.stop(signal.SIGTERM), 0), (lambda: server.stop(signal.SIGINT), 0), (server.kill, None)):
            assert end() == status, server.output()
            with server.start().client() as client:
                assert everything(client, order) == before
        assert server.stop() == 0
    finally:
        server.kill()


def test_the_log_is_printed_with_one_line_for_each_event(database):
    with Server(database=database) as server, server.client() as client:
        fill(client)
        events = read_log(client)
        # `log` finds the database or the server in the environment.
        environment = {"TIFFIN_DATABASE": database, "TIFFIN_SERVER": f"127.0.0.1:{server.port}"}
        run = run_tiffin("log", environment=environment)
        assert (run.returncode, run.stderr) == (0, "")
        assert len(run.stdout.splitlines()) == len(events)
        tail = run_tiffin("log", "--from", len(events) - 2, environment=environment).stdout.splitlines()
        assert tail == run.stdout.splitlines()[-3:]
        stream = run_tiffin("log", "--stream", "cart-cart-7", environment=environment).stdout.splitlines()
        assert len(stream) == sum(event["stream"] == "cart-cart-7" for event in events)


def test_migrating_twice_changes_nothing(database):
    first = run_tiffin("migrate", "--database", database)
    assert first.returncode == 0, first.stderr
    applied = sql("select count(*) from tiffin.migrations", database)
    assert int(applied) >= 2
    assert run_tiffin("migrate", "--database", database).returncode == 0
    assert sql("select count(*) from tiffin.migrations", database) == applied
    with Server(database=database) as server, server.client() as client:
        assert client("PING") == "PONG"


def test_a_changed_old_migration_is_refused(database):
    assert run_tiffin("migrate", "--database", database).returncode == 0
    column, kind = sql(
        "select column_name, data_type from information_schema.columns where table_schema = 'tiffin' "
        "and table_name = 'migrations' and column_name ~ 'checksum|digest'", database).split("|")
    changed = f"set_byte({column}, 0, 255 - get_byte({column}, 0))" if kind == "bytea" else f"reverse({column})"
    sql(f"update tiffin.migrations set {column} = {changed}", database)
    server = Server(database=database).launch()
    try:
        assert server.wait_until_ended() == 1
        assert "migration" in server.output().lower()
    finally:
        server.kill()
    assert run_tiffin("migrate", "--database", database).returncode == 1


def test_a_missing_database_is_an_error_in_one_line(database):
    server = Server(database=f"{database}_missing").launch()
    try:
        assert server.wait_until_ended() == 1
        server.wait_for_output(f"{database.rpartition('/')[2]}_missing")
        assert len(server.output().splitlines()) <= 2, server.output()
    finally:
        server.kill()


def test_an_embedded_server_takes_its_postgres_with_it(data_dir):
    with Server(data_dir=data_dir) as server, server.client() as client:
        assert client("PING") == "PONG"
    wait_until(lambda: not (Path(data_dir) / "postgres" / "postmaster.pid").exists(), "PostgreSQL to be stopped")
