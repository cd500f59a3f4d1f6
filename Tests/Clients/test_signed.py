"""Signed heads: what a log's signer and its witnesses sign, who can prove by it, and a log that shows two histories."""

import json
import shutil
import subprocess

import pytest

from test_order_proofs import check as check_order
from test_receipts import check, verify
from tiffin import (
    PATIENCE_SECONDS, Server, binary, fresh_database, item_document, put_open_outlet, run_tiffin, section_document, sql,
)

LOG = "log.example/orders"


def make_key(folder, name, *options):
    """A key file, and its public half."""
    path = folder / f"{name.replace('/', '-')}.pem"
    run = run_tiffin("key", path, "--name", name, *options)
    assert run.returncode == 0, run.stderr
    return path, run.stdout.strip()


class Witness:
    """A witness, a process of its own, that can be killed and started again at the same port."""

    def __init__(self, folder, name, log):
        self.name, self.port = name, 0
        path, self.key = make_key(folder, name, "--witness")
        self.arguments = ["witness", "--key", path, "--name", name, "--log", log, "--state", folder / f"{name}.state"]
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(
            [binary(), *map(str, self.arguments), "--listen", f"127.0.0.1:{self.port}"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = self.process.stdout.readline()
        self.port = int(line.rpartition(":")[2])
        # Nobody reads on, and its output is short.
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(timeout=PATIENCE_SECONDS)
        self.process.stdout.close()

    @property
    def option(self):
        return ["--witness", f"http://127.0.0.1:{self.port} {self.key}"]


class Signer:
    """The log's signer, with a folder of its own."""

    def __init__(self, folder, keys, witnesses, state="state"):
        self.options = ["--name", LOG, "--state", folder / state, "--once"]
        for key in keys:
            self.options += ["--key", key]
        for witness in witnesses:
            self.options += witness.option

    def sign(self, database):
        return run_tiffin("sign", "--database", database, *self.options)


@pytest.fixture
def log_key(tmp_path):
    return make_key(tmp_path, LOG)


def fill(client, cart="cart-1", count=5):
    for _ in range(count):
        client("CART.ADD", cart, "kitchen", "tea", 1)


def open_kitchen(client):
    put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])


def proofs(client, cart, *options):
    """A receipt, and what both checkers say of it."""
    receipt = client("LOG.PROVE", f"cart-{cart}", 1).decode()
    return [json.loads(receipt), verify("-", *options, text=receipt), check("-", *options, text=receipt)]


def test_a_receipt_is_proven_by_the_keys_of_the_log_and_of_two_witnesses_alone(database, tmp_path, log_key):
    path, key = log_key
    with Server(database=database) as server, server.client() as client, \
            Witness(tmp_path, "w1.example", key) as one, Witness(tmp_path, "w2.example", key) as two:
        open_kitchen(client)
        fill(client)
        assert client("LOG.SIGNED", 0) is None
        receipt, *_ = proofs(client, "cart-1")
        assert receipt["receipt"] == 4 and "signedHead" not in receipt
        assert client.error("LOG.PROVE", "cart-cart-1", 1, "FORM", "signed").code == "NOTFOUND"
        signer = Signer(tmp_path, [path], [one, two])
        run = signer.sign(database)
        assert (run.returncode, run.stderr) == (0, ""), run.stderr
        assert "cosigned by 2 of 2" in run.stdout
        head = client.json("LOG.SIGNED", 0)
        assert head["note"].startswith(f"{LOG}/0\n") and head["position"] == client.json("LOG.HEAD")[0]["position"]
        keys = ["--log", key, "--witness", one.key, "--witness", two.key]
        receipt, *verdicts = proofs(client, "cart-1", *keys)
        assert receipt["signedHead"] == head["note"] and len(json.dumps(receipt)) < 2_048
        for verdict in verdicts:
            assert verdict.returncode == 0, verdict.stdout + verdict.stderr
            assert all(name in verdict.stdout for name in (LOG, "w1.example", "w2.example"))
        # Of another key of that name, or of one that has signed nothing, nothing is proven.
        other_folder = tmp_path / "other"
        other_folder.mkdir()
        for options in (["--log", make_key(other_folder, LOG)[1]],
                        ["--witness", make_key(other_folder, "w1.example", "--witness")[1]],
                        ["--witness", make_key(other_folder, "w3.example", "--witness")[1]]):
            for verdict in proofs(client, "cart-1", *options)[1:]:
                assert verdict.returncode == 1 and "not proven" in verdict.stdout + verdict.stderr, options
        # Nor of a note that was changed.
        for old, new in (("orders/0\n", "orders/1\n"), (f"\n{receipt['tree']['size']}\n", "\n1\n"), ("\u2014 log.example/orders ", "\u2014 log.example/orders A")):
            changed = json.dumps({**receipt, "signedHead": receipt["signedHead"].replace(old, new)}, separators=(",", ":"))
            for verdict in (verify("-", *keys, text=changed), check("-", *keys, text=changed)):
                assert verdict.returncode != 0, (old, verdict.stdout)
        # What came since is not signed yet, and what is asked for as a tree is not either.
        fill(client, "cart-2")
        assert proofs(client, "cart-2")[0]["receipt"] == 4
        assert client.json("LOG.PROVE", "cart-cart-1", 1, "FORM", "tree")["receipt"] == 4
        # A witness that was killed goes on from what it knew, and one that is away is left out until it is back.
        one.__exit__()
        run = signer.sign(database)
        assert run.returncode == 0 and "cosigned by 1 of 2" in run.stdout and "w1.example does not cosign" in run.stderr
        with one:
            fill(client, "cart-2")
            assert "cosigned by 2 of 2" in signer.sign(database).stdout
            assert all(verdict.returncode == 0 for verdict in proofs(client, "cart-2", *keys)[1:])


def test_the_proof_of_an_order_ends_where_all_of_it_is_signed(database, tmp_path, log_key):
    path, key = log_key
    with Server(database=database) as server, server.client() as client:
        open_kitchen(client)
        fill(client)
        order = client("CART.CHECKOUT", "cart-1", "TOTAL", 500).decode()

        def proof(*options):
            text = client("ORDER.PROVE", order).decode()
            return json.loads(text), [run("-", *options, text=text).returncode for run in (verify, check_order)]

        assert proof("--log", key) == (proof()[0], [1, 1]) and proof()[1] == [0, 0]
        signer = Signer(tmp_path, [path], [])
        assert signer.sign(database).returncode == 0
        fill(client, "cart-2")
        signed, codes = proof("--log", key)
        assert codes == [0, 0] and all(receipt["signedHead"] for receipt in signed["receipts"])
        # What is given back is not signed yet, so there is one tree for all, and it is the newest.
        client("ORDER.REFUND", order, "AMOUNT", 100, "CODE", "OTHER")
        unsigned, codes = proof("--log", key)
        assert codes == [1, 1] and all("signedHead" not in receipt for receipt in unsigned["receipts"])
        assert signer.sign(database).returncode == 0
        assert proof("--log", key)[1] == [0, 0]


def test_keys_change_while_both_sign(database, tmp_path, log_key):
    path, key = log_key
    folder = tmp_path / "new"
    folder.mkdir()
    new_path, new_key = make_key(folder, LOG)
    with Server(database=database) as server, server.client() as client:
        open_kitchen(client)
        fill(client)
        assert Signer(tmp_path, [path, new_path], []).sign(database).returncode == 0
        for options in (["--log", key], ["--log", new_key], ["--log", key, "--log", new_key]):
            assert all(verdict.returncode == 0 for verdict in proofs(client, "cart-1", *options)[1:])
        fill(client)
        assert Signer(tmp_path, [new_path], []).sign(database).returncode == 0
        assert all(verdict.returncode == 1 for verdict in proofs(client, "cart-1", "--log", key)[1:])
        assert all(verdict.returncode == 0 for verdict in proofs(client, "cart-1", "--log", key, "--log", new_key)[1:])


def test_a_server_that_shows_two_customers_two_histories_is_found(database, tmp_path, log_key):
    path, key = log_key
    with Witness(tmp_path, "w1.example", key) as witness:
        with Server(database=database) as server, server.client() as client:
            open_kitchen(client)
            fill(client)
            assert Signer(tmp_path, [path], [witness]).sign(database).returncode == 0
        # The same log, the same key and what the signer knew: from here on it goes two ways.
        shutil.copytree(tmp_path / "state", tmp_path / "other-state")
        keys = ["--log", key, "--witness", witness.key]
        with fresh_database(template=database) as other:
            found = {}
            for where, state, cart in ((database, "state", "anna"), (other, "other-state", "bert")):
                with Server(database=where) as server, server.client() as client:
                    fill(client, cart, count=3)
                    run = Signer(tmp_path, [path], [witness], state).sign(where)
                    found[cart] = (run, *proofs(client, cart, *keys), *proofs(client, cart, "--log", key)[1:])
        (run, anna, *verdicts), (other_run, bert, *other_verdicts) = found["anna"], found["bert"]
        assert "cosigned by 1 of 1" in run.stdout and all(verdict.returncode == 0 for verdict in verdicts)
        # The log's own key proves both, of one size and with two roots. The witness has signed one of them.
        assert anna["tree"]["size"] == bert["tree"]["size"] and anna["tree"]["root"] != bert["tree"]["root"]
        assert "cosigned by 0 of 1" in other_run.stdout and "w1.example does not cosign" in other_run.stderr
        with_witness, with_log = other_verdicts[:2], other_verdicts[2:]
        assert all(verdict.returncode == 1 and "cosigned" in verdict.stdout + verdict.stderr for verdict in with_witness)
        assert all(verdict.returncode == 0 for verdict in with_log)


def test_nothing_is_signed_where_the_log_has_lost_what_was(database, tmp_path, log_key):
    path, _ = log_key
    signer = Signer(tmp_path, [path], [])
    with Server(database=database) as server, server.client() as client:
        open_kitchen(client)
    with fresh_database(template=database) as older:
        with Server(database=database) as server, server.client() as client:
            fill(client)
            assert signer.sign(database).returncode == 0
        for count, words in ((1, "it has lost what was there"), (9, "are not those whose head was signed")):
            with Server(database=older) as server, server.client() as client:
                fill(client, "other", count=count)
                run = signer.sign(older)
                assert run.returncode == 1 and words in run.stderr and not run.stdout, run.stderr
                assert client("LOG.SIGNED", 0) is None


def test_a_published_note_that_is_none_changes_no_receipt(database, tmp_path, log_key):
    path, _ = log_key
    with Server(database=database) as server, server.client() as client:
        open_kitchen(client)
        fill(client)
        assert Signer(tmp_path, [path], []).sign(database).returncode == 0
        for change in ("note = 'rubbish'", "note = E'a/0\\n1\\nAAAA\\n\\n'", "note = ''", "position = 2", "position = -1",
                       "position = 9223372036854775807"):
            sql(f"update tiffin.signed_heads set {change}", database)
            assert client.json("LOG.PROVE", "cart-cart-1", 1)["receipt"] == 4, change
        assert client.error("LOG.PROVE", "cart-cart-1", 1, "FORM", "signed").code == "NOTFOUND"


@pytest.mark.parametrize("arguments, words", [
    (["key"], "which file?"),
    (["key", "FOLDER/k"], "--name is needed"),
    (["key", "FOLDER/k", "--name", "a b"], "without spaces and plus signs"),
    (["key", "FOLDER/rubbish", "--name", "a"], "has no Ed25519 key in PEM"),
    (["key", "FOLDER/none/k", "--name", "a"], "No such file or directory"),
    (["witness", "--name", "a"], "--key is needed"),
    (["witness", "--name", "a", "--key", "FOLDER/rubbish"], "--log is needed"),
    (["witness", "--log", "a+b+c"], "--log must be the key of a log"),
    (["sign", "--name", "a"], "--key is needed"),
    (["sign", "--witness", "http://127.0.0.1:1"], "--witness must be an address and a key"),
])
def test_what_is_wrong_with_options_is_said(tmp_path, arguments, words):
    (tmp_path / "rubbish").write_text("rubbish")
    run = run_tiffin(*(argument.replace("FOLDER", str(tmp_path)) for argument in arguments))
    assert run.returncode == 64 and words in run.stderr and not run.stdout
