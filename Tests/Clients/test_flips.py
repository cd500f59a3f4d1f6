"""Some cycles of `flips`, and damage that it has to find."""

import os
import random
import re
import subprocess

import pytest

import flips
from flips import PAGE, SAVED_ROWS, Result
from test_users import log_in, user
from tiffin import Server, fresh_data_dir, private_address, run_tiffin, sql, wait_until
from trials import Failure


def test_damage_is_named_and_never_served():
    assert len(flips.run(6, seed=2026)) == 6


def test_a_change_that_nobody_names_is_found_out():
    """Somebody has changed an answer, and no page is damaged."""
    def strike(trial, chance):
        with trial.copy():
            trial.answers[-1] = b"another"
            trial.server.start()
            trial.judge("nothing")
            return "nothing", Result([], 0, 0, 0, 0)

    with pytest.raises(Failure, match="changed without a word"):
        flips.run(1, seed=random.randrange(100), cards=["nothing"], damage={"nothing": strike})


@pytest.mark.parametrize("table", ["users", "user_revision"])
def test_a_database_that_has_lost_its_users_lets_nobody_in(database, table):
    """Without users, anybody on the machine could do anything."""
    assert run_tiffin("migrate", "--database", database).returncode == 0
    user(database, "add", "root", "--role", "admin", "--no-password")
    token = user(database, "token", "root")
    with Server(database=database) as server:
        sql(f"delete from tiffin.{table}", database)
        # What was known stays.
        log_in(server.port, "root", token).close()
    server.launch()
    assert server.wait_until_ended() == 1
    server.wait_for_output(f"error: tiffin.{table} is damaged: it has no row")
    # The same of whoever changes users.
    if table == "user_revision":
        assert f"tiffin.{table} is damaged" in user(database, "add", "anna", "--role", "customer", "--no-password", code=1)


@pytest.fixture(scope="module")
def original():
    with fresh_data_dir() as folder:
        token, relations, answers = flips.make_original(folder)
        yield folder, token, dict(relations), answers


def spoil(path):
    """Flips a bit of every page."""
    with open(path, "r+b") as file:
        for start in range(0, os.path.getsize(path), PAGE):
            file.seek(start + PAGE // 2)
            byte = file.read(1)[0]
            file.seek(start + PAGE // 2)
            file.write(bytes([byte ^ 1]))


def test_saved_rows_that_cannot_be_read_are_made_again_from_the_log(original):
    tables = [table for table in SAVED_ROWS if table in original[2]]
    # The others have no page that could be damaged.
    assert {"outlet_home_rows", "cart_count_rows", "order_rows", "projection_checkpoints"} <= set(tables)
    for table in tables:
        are_made_again(original, table)


def are_made_again(original, table):
    source, token, relations, answers = original
    with fresh_data_dir() as folder:
        subprocess.run(["cp", "-a", source, folder], check=True)
        spoil(f"{folder}/postgres/{relations[table]}")

        def ask(server):
            with flips.log_in(server, token) as client:
                return [flips.settled(reply) for reply in flips.ask(client)]

        with Server(data_dir=folder) as server:
            server.wait_for_output("invalid page in block 0")
            if table != "cart_count_rows":
                server.wait_for_output("the saved rows of partition 0 cannot be read: ")
                assert ask(server) == answers
            with flips.log_in(server, token) as client:
                client("CART.ADD", "new", "grill", "dish-1", 1)
            # PostgreSQL cannot remove rows that it cannot read.
            server.wait_for_output("'TRUNCATE ")
            statement = re.search(r"'(TRUNCATE [^']+)' while no server runs", server.output())[1]
            assert f"tiffin.{table}" in statement
        account = "postgres" if os.geteuid() == 0 else None
        subprocess.run(
            ["postgres", "--single", "-j", "-D", f"{folder}/postgres", "tiffin"], input=f"{statement}\n\n", text=True,
            check=True, user=account, cwd="/", capture_output=True)
        with Server(data_dir=folder) as server:
            with flips.log_in(server, token) as client:
                client("CART.CLEAR", "new")
            wait_until(
                lambda: sql("select count(*) > 0 from tiffin.order_rows", private_address(folder)) == "t",
                "rows to be saved")
        with Server(data_dir=folder) as server:
            assert ask(server)[:-1] == answers[:-1]
            assert "folding the log again" not in server.output()
            assert run_tiffin("audit", "--database", private_address(folder)).returncode == 0
