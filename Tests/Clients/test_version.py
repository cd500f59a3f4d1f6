"""The executable has one version, which a tag can carry, and CHANGELOG.md says what is in it."""

import json
import re

from tiffin import CHECKOUT, run_tiffin


def test_the_changelog_has_a_heading_for_the_version():
    run = run_tiffin("version")
    assert run.returncode == 0 and run_tiffin("--version").stdout == run.stdout
    version = re.fullmatch(r"tiffin (\d+\.\d+\.\d+)\n", run.stdout)[1]
    headings = re.findall(r"^## (\S+)", (CHECKOUT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert version in headings
    # The newest that has a number is the one that is printed.
    assert next(heading for heading in headings if heading[0].isdigit()) == version
    assert json.loads((CHECKOUT / "docs" / "openapi.json").read_text())["info"]["version"] == version


def test_servers_say_the_same_version(client):
    version = run_tiffin("version").stdout.split()[1]
    assert f"tiffin_version:{version}\r\n" in client("INFO", "server").decode()
    greeting = client("HELLO", "2")
    assert greeting[greeting.index(b"version") + 1].decode() == version
