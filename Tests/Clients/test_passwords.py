"""The password of the database is seen by nobody."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from test_damage import MENU
from tiffin import Server, put_open_outlet, run_tiffin


def with_password(database):
    return database.replace("postgres@", "postgres:s3cret@")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux")
@pytest.mark.parametrize("words", [
    lambda database: ["--database", with_password(database)],
    lambda database: [f"--database={with_password(database)}"],
    lambda database: ["--database", f"{database}?password=s3cret"],
    lambda database: ["--database", f"dbname={urlsplit(database).path[1:]} user=postgres password=s3cret host="
                      f"{urlsplit(database).netloc.partition('@')[2].replace('%2F', '/')}"],
])
def test_a_password_does_not_show_among_the_arguments(database, words):
    with Server(options=words(database)) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
        arguments = Path(f"/proc/{server.process.pid}/cmdline").read_bytes().split(b"\0")
        assert b"s3cret" not in b" ".join(arguments)
        assert b"serve" in arguments and b"127.0.0.1:0" in arguments


def test_the_address_comes_from_a_file(database, tmp_path):
    file = tmp_path / "address"
    file.write_text(f"{with_password(database)}\n")
    with Server(options=["--database-file", file]) as server, server.client() as client:
        put_open_outlet(client, "kitchen", MENU)
    assert '"outlet.opened"' in run_tiffin("log", "--database-file", file).stdout
    missing = run_tiffin("log", "--database-file", tmp_path / "none")
    assert missing.returncode == 64 and f"--database-file: {tmp_path / 'none'}: No such file or directory" in missing.stderr
