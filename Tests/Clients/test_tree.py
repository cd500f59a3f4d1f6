"""The tree over a log: proofs of every size, judged by the check in Python, and what is kept to make them."""

import copy
import json
import random
import string

import pytest

from test_receipts import CHECKER, check, verify
from tiffin import Server, fresh_database, item_document, put_open_outlet, run_tiffin, section_document, sql, wait_until

NODES = "select count(*) from tiffin.tree_nodes where level = 1"


@pytest.fixture(scope="module")
def checker():
    checker = {"__name__": "checker"}
    exec(compile(CHECKER.read_text(), str(CHECKER), "exec"), checker)
    return checker


@pytest.fixture(scope="module")
def grown():
    """A server whose log was written a batch at a time, and the position where each batch ends."""
    with fresh_database() as database, Server(database=database) as server:
        with server.client() as client:
            put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])
            add(client, 300)
        # A process that ends at any moment leaves a tree that goes on.
        wait_until(lambda: sql(NODES, database) == "1", "the first node")
        server.kill()
        server.start()
        with server.client() as client:
            add(client, 300)
            wait_until(lambda: sql(NODES, database) == "2", "the second node")
            ends = [int(end) for end in sql("select last_position from tiffin.batches order by 1", database).split()]
            yield database, client, ends, server


def add(client, count):
    for number in range(count):
        client("CART.ADD", f"cart-{number % 9}", "kitchen", "tea", 1)


def test_proofs_of_every_size_are_those_of_rfc_9162(grown, checker, capsys):
    _, client, ends, _ = grown
    dice = random.Random(9162)
    leaves = []
    for size, end in enumerate(ends[:300], start=1):
        tree = client.json("LOG.TREE", 0, "HEAD", end, "SINCE", dice.randrange(size + 1))
        leaves.append(checker["batch_leaf"](end, bytes.fromhex(tree["digest"])))
        assert (tree["size"], tree["position"], tree["root"]) == (size, end, checker["root_of"](leaves).hex())
        checker["check_growth"](tree, bytes.fromhex(tree["since"]["root"]), None)
        if size > 20:
            # Every ninth batch is of this cart.
            receipt = client.json("LOG.PROVE", "cart-cart-4", dice.randrange(1, size // 9), "HEAD", end)
            checker["check_receipt"](receipt, bytes.fromhex(tree["root"]), None)
    capsys.readouterr()


def test_a_proof_of_growth_is_judged_offline_and_says_what_it_was_compared_with(grown):
    _, client, ends, _ = grown
    old = client.json("LOG.TREE", 0, "HEAD", ends[257])
    text = client("LOG.TREE", 0, "SINCE", old["size"]).decode()
    run = check("-", text=text)
    assert run.returncode == 0 and "compared with no head" in run.stdout
    for known in old["root"], json.loads(text)["root"], json.loads(text)["digest"]:
        run = check("-", "--head", known, text=text)
        assert run.returncode == 0 and "compared with no head" not in run.stdout
    run = check("-", text=client("LOG.PROVE", "cart-cart-1", 1).decode())
    assert run.returncode == 0 and "compared with no head" in run.stdout


def test_whatever_is_changed_in_a_proof_is_found(grown, checker):
    _, client, ends, _ = grown
    dice = random.Random(6962)
    tree = client.json("LOG.TREE", 0, "SINCE", 300)
    receipt = client.json("LOG.PROVE", "cart-cart-4", 30)
    found = 0
    for original, judge in [(tree, "check_growth"), (receipt, "check_receipt")] * 300:
        changed = copy.deepcopy(original)
        part = dice.choice([part for part in (changed, *changed.values()) if isinstance(part, dict)])
        name = dice.choice([name for name, value in part.items() if isinstance(value, (str, int))])
        # What no digest covers: which partitions there are, and numbers that take the same turns.
        if name in ("receipt", "partition", "partitions", "size") or part[name] == "":
            continue
        if isinstance(part[name], int):
            part[name] += dice.choice((1, -1, 256, -256))
        else:
            place = dice.randrange(len(part[name]))
            letter = dice.choice(string.hexdigits.lower() + string.ascii_letters)
            part[name] = part[name][:place] + letter + part[name][place + 1:]
        if changed == original:
            continue
        found += 1
        with pytest.raises((SystemExit, ValueError, KeyError)):
            checker[judge](changed, None, None)
    assert found > 200


def test_a_receipt_and_its_tree_are_compared_with_anchors(grown, tmp_path):
    database, client, ends, _ = grown
    anchors = tmp_path / "anchors"
    assert run_tiffin("audit", "--database", database, "--new-anchor", anchors).returncode == 0
    [anchor] = map(json.loads, anchors.read_text().splitlines())
    tree = client.json("LOG.TREE", 0)
    assert {key: anchor[key] for key in anchor if key != "time"} == {
        key: tree[key] for key in ("partition", "position", "digest", "size", "root")}
    add(client, 3)
    receipt = client("LOG.PROVE", "cart-cart-4", 2, "HEAD", anchor["position"]).decode()
    run = verify("-", "--anchor", anchors, text=receipt)
    assert run.returncode == 0 and "holds" in run.stdout, run
    later = client("LOG.PROVE", "cart-cart-4", 2).decode()
    run = verify("-", "--anchor", anchors, text=later)
    assert run.returncode == 1 and "HEAD" in run.stdout, run
    anchors.write_text(json.dumps({**anchor, "root": "00" * 32}, separators=(",", ":")) + "\n")
    assert verify("-", "--anchor", anchors, text=receipt).returncode == 1
    run = run_tiffin("audit", "--database", database, "--anchor", anchors)
    assert run.returncode == 2 and "has the root" in run.stdout, run
    run = check("-", "--head", anchor["root"], text=client("LOG.TREE", 0, "SINCE", anchor["size"]).decode())
    assert run.returncode == 0, run


@pytest.mark.parametrize("change, named", [
    ("update tiffin.tree_nodes set digest = sha256('') where number = 0", "node 0 of level 1 in tree_nodes does not follow"),
    ("update tiffin.tree_nodes set tree_digest = null where number = 1", "node 1 of level 1 in tree_nodes does not follow"),
    ("update tiffin.tree_nodes set last_position = 7 where number = 0", "node 0 of level 1 in tree_nodes does not follow"),
    ("delete from tiffin.tree_nodes where number = 0", "node 0 of level 1 in tree_nodes is missing"),
    ("insert into tiffin.tree_nodes values (0, 1, 2, 3, '', '')", "node 2 of level 1 in tree_nodes is over batches"),
    ("insert into tiffin.tree_nodes values (0, 32767, -9, 9223372036854775807, '', '')", "node -9 of level 32767"),
])
def test_a_node_that_is_wrong_is_named_and_decides_nothing(grown, change, named):
    database, client, *_ = grown
    position = client.json("LOG.HEAD")[0]["position"]
    prove = [("LOG.PROVE", f"cart-cart-{cart}", version, "HEAD", position) for cart in (1, 4) for version in (1, 28, 50)]
    receipts = [client(*words) for words in prove]
    try:
        sql(change, database)
        run = run_tiffin("audit", "--database", database)
        assert run.returncode == 1 and named in run.stdout, run
        assert [client(*words) for words in prove] == receipts
    finally:
        sql("delete from tiffin.tree_nodes where level > 1 or number > 1", database)
    assert client("LOG.PROVE", "cart-cart-1", 1, "HEAD", position) == receipts[0]
    run = run_tiffin("audit", "--database", database)
    assert run.returncode == 0, run


def test_an_old_log_gets_its_tree_while_a_server_serves_it(grown):
    database, client, _, server = grown
    position = client.json("LOG.HEAD")[0]["position"]
    receipt = client("LOG.PROVE", "cart-cart-1", 1, "HEAD", position)
    nodes = "select number, digest, tree_digest from tiffin.tree_nodes order by 1"
    before = sql(nodes, database)
    sql("truncate tiffin.tree_nodes", database)
    assert client("LOG.PROVE", "cart-cart-1", 1, "HEAD", position) == receipt
    server.kill()
    server.start()
    with server.client() as client:
        wait_until(lambda: sql(nodes, database) == before, "the tree")
        assert client("LOG.PROVE", "cart-cart-1", 1, "HEAD", position) == receipt
