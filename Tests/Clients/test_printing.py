"""Whatever texts are recorded, typed or answered, no program prints one that deceives a terminal."""

import json
import os
import random
import socket
import subprocess
import threading
import unicodedata

import pytest

import tiffin
from monkeys import SHORT, SMALL
from tiffin import (
    PATIENCE_SECONDS, Server, fresh_database, item_document, outlet_document, run_tiffin, section_document,
)

# What texts may have in them, and terminals must not.
HOSTILE = "\x80\x85\x9b2J\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff\ufff9a\u200db\U000e0041"
# And what can only be typed, be in a file, or be answered.
OBEYED = HOSTILE + "\r\n\x1b]0;x\x07\x1b[2K\x7fproven"


def deceives(character: str) -> bool:
    """Written down once more."""
    return character != "\n" and (
        unicodedata.category(character) in ("Cc", "Zl", "Zp")
        or unicodedata.category(character) == "Cf" and character not in "\u200c\u200d")


def check(run: subprocess.CompletedProcess, code=None):
    """Nothing that it printed deceives, and it printed something."""
    if code is not None:
        assert run.returncode == code, run
    printed = run.stdout + run.stderr
    assert printed and not [ascii(character) for character in printed if deceives(character)], (run.args, ascii(printed))
    # Between letters nothing is joined.
    assert "a\u200db" not in printed, run.args
    return run


@pytest.fixture(scope="module")
def kitchen():
    """A server, and the URL of its database, with hostile texts wherever a client can put one."""
    with fresh_database() as database, Server(database=database, options=["--log-level", "debug"]) as server:
        with server.client() as client:
            name = f"N{HOSTILE}"
            client("OUTLET.PUT", "kitchen", json.dumps(outlet_document(
                name=name, city=name, area=name, address=name, cuisines=[name])))
            client("MENU.PUT", "kitchen", json.dumps({"sections": [section_document("all", [
                item_document("tea", 695, name=name, description=name, cuisine=name, tags=[name])], title=name)]}))
            client("OUTLET.OPEN", "kitchen")
            client("CART.ADD", "c", "kitchen", "tea", 1, "NOTE", name, "ID", "once", "CUSTOMER", "anna")
            client("CART.ADD", "d", "kitchen", "tea", 1, "NOTE", name)
            order = client("CART.CHECKOUT", "c", "TOTAL", 695, "CUSTOMER", "anna", "NAME", name).decode()
        yield server, database, order


def test_what_is_recorded_is_shown_by_its_numbers(kitchen):
    server, database, order = kitchen
    there, base = ["--server", f"127.0.0.1:{server.port}"], ["--database", database]
    for subject in (["cart", "c"], ["cart", "d"], ["order", order], ["outlet", "kitchen"]):
        assert r"\u{9b}2J" in check(run_tiffin("why", *subject, *there), 0).stdout
        check(run_tiffin("why", *subject, *base), 0)
    assert r"\u009b2J" in check(run_tiffin("log", *base), 0).stdout
    for output in ("table", "json", "ndjson"):
        for projection in ("outlet_home", "cart_counts"):
            check(run_tiffin("replay", projection, "--output", output, *base), 0)
    check(run_tiffin("audit", *there, *base), 0)
    check(run_tiffin("user", "add", "root", "--role", "admin", *base, text="a long password\n"), 0)
    check(run_tiffin("user", "list", *base), 0)


@pytest.mark.parametrize("code, arguments", [
    *((64, arguments) for arguments in (
        [OBEYED], ["serve", OBEYED], ["serve", f"--{OBEYED}"], ["serve", "--listen", OBEYED], ["why", OBEYED],
        ["why", "cart", OBEYED], ["log", "--stream", OBEYED], ["replay", OBEYED], ["user", OBEYED],
        ["user", "add", OBEYED], ["import", OBEYED], ["import", "outlets", OBEYED, "--server", OBEYED],
        ["forget", OBEYED], ["rebuild", OBEYED],
    )),
    *((1, arguments) for arguments in (
        ["serve", "--database", OBEYED], ["serve", "--tls-cert", OBEYED, "--tls-key", OBEYED],
        # Not where a data directory may be.
        ["serve", "--data-dir", f"/proc/{OBEYED}"], ["why", "cart", "c", "--server", f"{OBEYED}:1"],
        ["log", "--database", f"postgres://127.0.0.1:1/{OBEYED}"],
    )),
    (3, ["verify", OBEYED]), (3, ["audit", "--anchor", OBEYED]), (5, ["import", "menu", OBEYED, "--outlet", "x"]),
], ids=lambda value: " ".join(value).replace(OBEYED, "…") if isinstance(value, list) else str(value))
def test_what_is_typed_is_quoted_by_its_numbers(code, arguments, tmp_path):
    check(run_tiffin(*arguments, seconds=60, folder=tmp_path), code)


@pytest.mark.parametrize("option", ["--server", "--scenario", "--threshold", "--judge", "--no-such-option"])
def test_the_load_generator_quotes_by_numbers(option):
    monkey = os.path.join(os.path.dirname(tiffin.binary()), "tiffin-monkey")
    run = subprocess.run([monkey, option, OBEYED], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    check(run, 3)


def test_what_is_in_a_file_is_quoted_by_its_numbers(server, client, tmp_path):
    client("OUTLET.PUT", "kitchen", json.dumps(outlet_document("Kitchen")))
    there = ["--server", f"127.0.0.1:{server.port}"]
    folder = tmp_path / OBEYED
    folder.mkdir()
    menu = folder / "menu.json"
    for code, document in (
        (5, {OBEYED: 1}), (5, {"sections": OBEYED}), (4, {"sections": [{OBEYED: 1}]}),
        (3, {"sections": [section_document("all", [item_document("tea", 1, kind=OBEYED)])]}),
        (3, {"sections": [section_document(OBEYED, [item_document("tea", 1)])]}),
    ):
        menu.write_text(json.dumps(document, ensure_ascii=False))
        check(run_tiffin("import", "menu", menu, "--outlet", "kitchen", *there), code)
    recipes = folder / "recipes.json"
    recipes.write_text(json.dumps([{"name": OBEYED}, {OBEYED: OBEYED}], ensure_ascii=False))
    check(run_tiffin("import", "recipes", recipes, *there))
    table = folder / "outlets.csv"
    quoted = '"' + OBEYED.replace('"', '""') + '"'
    table.write_text(f"id,name,{quoted}\n{quoted},{quoted},{quoted}\n")
    check(run_tiffin("import", "outlets", table, *there))
    receipt = folder / "receipt.json"
    receipt.write_text(json.dumps({OBEYED: 1}, ensure_ascii=False))
    check(run_tiffin("verify", receipt))


@pytest.fixture
def impostor():
    """The port of a server that answers everything with an error that it should not."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def answer():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    if connection.recv(65_536):
                        text = OBEYED.replace("\r", "").replace("\n", "")
                        connection.sendall(f"-ERR {text}\r\n".encode() * 100)
                        connection.recv(65_536)

        threading.Thread(target=answer, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def test_what_a_server_answers_is_quoted_by_its_numbers(impostor, tmp_path):
    there = ["--server", f"127.0.0.1:{impostor}"]
    menu = tmp_path / "menu.json"
    menu.write_text('{"sections":[]}')
    check(run_tiffin("why", "cart", "c", *there, seconds=60), 1)
    check(run_tiffin("import", "menu", menu, "--outlet", "x", *there, seconds=60), 6)
    monkey = os.path.join(os.path.dirname(tiffin.binary()), "tiffin-monkey")
    run = subprocess.run(
        [monkey, *map(str, SHORT + SMALL), *there], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    check(run, 3)


def test_what_clients_send_is_in_no_log_raw(kitchen):
    server, database, _ = kitchen
    chance = random.Random(1)
    for _ in range(50):
        with server.client() as client:
            words = [chance.choice(["CART.GET", "CLIENT", "AUTH", "POST", OBEYED]), OBEYED]
            client.send(tiffin.encode(*words)[: chance.randrange(1, 200)])
    server.stop()
    assert len(server.lines) > 5
    for line in server.lines:
        assert not [ascii(character) for character in line or "" if deceives(character)], ascii(line)
