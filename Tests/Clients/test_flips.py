"""Some cycles of `flips`, and damage that it has to find."""

import random

import pytest

import flips
from flips import Result
from test_users import log_in, user
from tiffin import Server, run_tiffin, sql
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
