"""Three cycles of `make failovers`. They need etcd and Patroni, which `Scripts/setup failovers` installs."""

import pytest

import failovers
import patroni


@pytest.mark.skipif(not patroni.is_installed(), reason="there is no etcd or no Patroni: Scripts/setup failovers")
def test_a_fleet_on_a_highly_available_database_loses_nothing():
    faults = [failovers.switchover, failovers.primary_killed, failovers.server_killed]
    results = failovers.run(3, seed=2026, nodes=2, faults=faults)
    assert sorted(name for result in results for name in result.faults) == [
        "primary killed", "server killed", "switchover"]
