"""Twenty cycles of `make crash`, and mistakes that it has to find."""

import pytest

import crash
from tiffin import Client
from trials import Failure


def test_nothing_is_lost_and_nothing_is_done_twice():
    # The bound is generous: other tests use the machine at the same time.
    assert len(crash.run(20, seed=2026, within=30)) == 20


@pytest.mark.parametrize("fault", ["drop-write:50", "double-write:50"])
def test_a_server_that_makes_mistakes_is_found_out(server, fault):
    with Client(server.port) as client:
        if b"tiffin_build:debug" not in client("INFO", "server"):
            pytest.skip("a release build has no faults to plant")
    with pytest.raises(Failure):
        crash.run(1, seed=1, within=30, stages=[crash.Private], environment={"TIFFIN_PLANTED_FAULT": fault})
