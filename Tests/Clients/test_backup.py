"""A backup by pg_dump is a whole log, in another PostgreSQL, too."""

import subprocess

import pytest

from tiffin import PATIENCE_SECONDS, Server, private_cluster, put_open_outlet, read_log, run_tiffin, sql
from writers import MENU


def restored(dump, url, *options):
    """What pg_restore says while it restores a copy."""
    return subprocess.run(
        ["pg_restore", "--no-owner", *options, "--dbname", url, dump], capture_output=True, text=True, timeout=PATIENCE_SECONDS)


@pytest.mark.parametrize("options", [("--no-privileges",), ()], ids=["as documented", "with the grants"])
def test_a_backup_is_restored_into_another_cluster_and_served(database, tmp_path, options):
    dump = tmp_path / "tiffin.dump"
    with Server(database=database) as server:
        with server.client() as client:
            put_open_outlet(client, "kitchen", MENU)
            for number in range(20):
                client("CART.ADD", f"c{number}", "kitchen", "dish-1", 1)
            events = read_log(client)
        assert server.stop() == 0
    subprocess.run(["pg_dump", "--format", "custom", "--file", dump, database], check=True, timeout=PATIENCE_SECONDS)
    with private_cluster() as (copy, _, _):
        said = restored(dump, copy, *options)
        if options:
            assert said.returncode == 0, said.stderr
        else:
            assert 'role "tiffin_server" does not exist' in said.stderr
        mended = run_tiffin("migrate", "--database", copy)
        assert mended.stdout == "the roles and grants that were missing, as in a restored copy, are there again\n"
        assert run_tiffin("migrate", "--database", copy).stdout == "nothing to do: the schema is up to date\n"
        # Not even what PostgreSQL gives everybody by default.
        assert sql("select count(*) from pg_proc, aclexplode(proacl) as a where a.grantee = 0 and prosecdef "
                   "and pronamespace = 'tiffin'::regnamespace", copy) == "0"
        audit = run_tiffin("audit", "--database", copy)
        assert audit.returncode == 0 and "sound" in audit.stdout, audit.stdout
        with Server(database=copy) as server, server.client() as client:
            assert read_log(client) == events
            assert client("CART.ADD", "c0", "kitchen", "dish-1", 1) == 2
