"""A menu beyond its limits, as a log may have one from before there were limits."""

import json

from edits import patched
from test_rebuild import assert_sound, rebuild, wait_for_checkpoint
from test_subscriptions import next_change, subscribe
from tiffin import Server, item_document, put_open_outlet, section_document, sql, wait_until

# The texts have 9.6 MB, the home 8.8 MB, and the row in the database 18 MB.
ITEMS = 450

# An item with all texts as long as they may be, again and again: a batch for each.
APPEND_ITEMS = r"""
    DO $$
    DECLARE
        version bigint;
        line text;
        head tiffin.log_head;
        now timestamptz := date_trunc('milliseconds', clock_timestamp());
    BEGIN
        SELECT * INTO head FROM tiffin.log_head;
        SELECT count(*) INTO version FROM tiffin.events_of('menu-kitchen');
        FOR n IN 1..%d LOOP
            line := concat_ws(E'\t', 'menu-kitchen', version + n, 'menu.itemAdded', 1, json_build_object(
                'id', 'vast-' || n, 'kind', 'menuItem', 'name', 'Vast', 'description', repeat('é', 1000), 'price', 100,
                'tags', array_fill(repeat('é', 150), ARRAY[50]), 'imageSmall', repeat('s', 2000),
                'imageLarge', repeat('l', 2000), 'section', 'all')::text, '{}');
            head.position := head.position + 1;
            INSERT INTO tiffin.batches VALUES (
                0, head.position, head.position, sha256('\x00'::bytea || tiffin.canonical_bytes(line, now)),
                sha256(head.digest || sha256('\x00'::bytea || tiffin.canonical_bytes(line, now))), NULL, now, line)
            RETURNING chain_digest INTO head.digest;
        END LOOP;
        UPDATE tiffin.log_head SET position = head.position, digest = head.digest;
    END $$
"""


def test_a_menu_beyond_its_limit_is_saved_and_sold_from_and_can_become_smaller(database):
    limited = ("--max-output", "8mb")
    with Server(database=database) as server, server.client() as client:
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("dish", 500)])])
    sql(APPEND_ITEMS % ITEMS, database)
    with Server(database=database, options=limited) as server, server.client() as client, server.client() as listener:
        for command, size in (("OUTLET.HOME", 8), ("MENU.GET", 9)):
            error = client.error(command, "kitchen")
            assert error.code == "LIMIT" and f"the document has {size}" in str(error), error
        assert subscribe(listener, "home:kitchen")["home:kitchen"]["error"]["code"] == "LIMIT"
        assert client.json("ITEM.GET", "kitchen", f"vast-{ITEMS}")["price"] == 100
        assert client("CART.ADD", "c", "kitchen", "vast-7", 2) == 2
        larger = client.error(
            "MENU.ITEM.PUT", "kitchen", "all", "dish", json.dumps(item_document("dish", 500, description="d" * 2_000)))
        assert larger.code == "LIMIT" and "the texts of a menu have at most 8388608 bytes together" in str(larger)
        wait_for_checkpoint(database)
        run = rebuild(database, "--all")
        assert run.returncode == 0, run.stderr
        wait_until(lambda: "generation=2" in client("INFO", "projections").decode(), "the rebuilt rows")
        assert_sound(database)
    with Server(database=database, options=limited) as server, server.client() as client, server.client() as listener:
        assert "folding the log again" not in server.output()
        assert subscribe(listener, "home:kitchen")["home:kitchen"]["error"]["code"] == "LIMIT"
        client.pipeline(("MENU.ITEM.REMOVE", "kitchen", f"vast-{n}") for n in range(351, ITEMS + 1))
        # Now it can be sent; nobody has had it before.
        change = next_change(listener, "home:kitchen")
        assert (change["from"], change["patch"]) == (change["to"], [])
        while change["to"] < client.json("OUTLET.HOME", "kitchen")["revision"]:
            change = next_change(listener, "home:kitchen")
        home = client.json("OUTLET.HOME", "kitchen")
        assert len(home["sections"][0]["items"]) == 351
        client("MENU.ITEM.PRICE", "kitchen", "dish", 7)
        change = next_change(listener, "home:kitchen")
        assert len(json.dumps(change)) < 1_000
        assert patched(home, change) == client.json("OUTLET.HOME", "kitchen")
        wait_for_checkpoint(database)
        assert_sound(database)
