"""Options, sizes and combos, and what is charged beside the lines, over the wire."""

import json
import threading

import pytest

from tiffin import (
    Client, ReplyError, Server, fresh_database, item_document, outlet_document, put_open_outlet, read_log, run_tiffin,
    section_document,
)

SIZE = {"id": "size", "title": "Size", "setsPrice": True, "options": [
    {"id": "small", "name": "Small", "price": 800}, {"id": "large", "name": "Large", "price": 1100}]}
EXTRAS = {"id": "extras", "title": "Extras", "max": 3, "free": 1, "options": [
    {"id": "cheese", "name": "Cheese", "price": 100, "prices": {"large": 150}, "max": 2},
    {"id": "bacon", "name": "Bacon", "price": 200}]}
SIDE = {"id": "side", "title": "Side", "min": 1, "options": [
    {"id": "with-fries", "name": "Fries", "item": "fries"}, {"id": "with-salad", "name": "Salad", "price": 50}]}


def put_menu(client, outlet, **changes):
    items = [
        item_document("burger", None, options=["size", "extras"]),
        item_document("fries", 300), item_document("meal", 1200, options=["side"]),
    ]
    put_open_outlet(client, outlet, [section_document("all", items)], [SIZE, EXTRAS, SIDE], **changes)


def add(client, cart, outlet, item, options, *words):
    return client("CART.ADD", cart, outlet, item, 1, "OPTIONS", options, *words)


def lines(client, cart):
    return {line["line"]: (line["quantity"], line["unitPrice"]) for line in client.json("CART.GET", cart)["lines"]}


class TestChoices:
    def test_lines_with_the_same_options_join_in_whatever_order_they_are_tapped(self, client, name):
        put_menu(client, name)
        add(client, name, name, "burger", "large,cheese*2")
        assert add(client, name, name, "burger", "cheese,large,cheese") == 2
        add(client, name, name, "burger", "small,bacon")
        assert lines(client, name) == {"burger+cheese*2+large": (2, 1250), "burger+bacon+small": (1, 800)}

    @pytest.mark.parametrize("options, code, words", [
        ("", "CHOICE", "choose 1 of group 'size', not 0"),
        ("small,large", "CHOICE", "choose 1 of group 'size', not 2"),
        ("small,cheese*3", "CHOICE", "option 'cheese'"),
        ("small,cheese*2,bacon*2", "CHOICE", "option 'bacon'"),
        ("small,with-fries", "CHOICE", "no option 'with-fries'"),
        ("small,none", "CHOICE", "no option 'none'"),
        ("small,,", "INVALID", "OPTIONS"), ("small*0", "INVALID", "OPTIONS"), ("small*100", "INVALID", "OPTIONS"),
        ("a b", "INVALID", "OPTIONS"), ("small*", "INVALID", "OPTIONS"), ("*2", "INVALID", "OPTIONS"),
        (",".join(f"o{n}" for n in range(21)), "LIMIT", "20 options"),
        (",".join(["small"] * 5_000), "LIMIT", "20 options"),
    ])
    def test_a_wrong_choice_says_what_is_wrong_with_it(self, client, name, options, code, words):
        put_menu(client, name)
        error = client.error("CART.ADD", name, name, "burger", 1, "OPTIONS", options)
        assert error.code == code and words in str(error)
        assert client("CART.COUNT", name) == 0

    def test_a_line_is_edited_at_today_s_price_and_joins_its_equal(self, client, name):
        put_menu(client, name)
        add(client, name, name, "burger", "large,cheese")
        add(client, name, name, "burger", "small")
        client("MENU.OPTION.PRICE", name, "large", 1150)
        assert client("CART.EDIT", name, "burger+small", "NOTE", "well done") == 2
        assert client("CART.EDIT", name, "burger+small", "OPTIONS", "cheese,large", "NOTE", "") == 2
        assert lines(client, name) == {"burger+cheese+large": (2, 1150)}
        version = client.json("CART.GET", name)["version"]
        client("CART.EDIT", name, "burger+cheese+large", "OPTIONS", "large,cheese")
        assert client.json("CART.GET", name)["version"] == version
        assert client.error("CART.EDIT", name, "burger+none", "NOTE", "x").code == "NOTFOUND"
        assert client.error("CART.EDIT", name, "burger+cheese+large", "OPTIONS", "").code == "CHOICE"

    def test_what_is_sold_out_shows_in_the_cart_the_item_and_the_home(self, client, name):
        put_menu(client, name)
        add(client, name, name, "meal", "with-fries")
        client("MENU.ITEM.SUSPEND", name, "fries")
        assert client.json("CART.GET", name)["lines"][0]["problem"] == {"code": "OPTIONSOLDOUT", "option": "with-fries"}
        assert client.error("CART.CHECKOUT", name, "TOTAL", 1200).code == "SOLDOUT"
        client("MENU.OPTION.SUSPEND", name, "with-salad")
        models = {item["id"]: item["model"] for item in client.json("OUTLET.HOME", name)["sections"][0]["items"]}
        assert [models[item]["available"] for item in ("burger", "fries", "meal")] == [True, False, False]
        assert (models["burger"]["price"], models["burger"]["from"], models["burger"]["hasOptions"]) == (800, True, True)
        assert client.json("BROWSE", "OUTLET", name, "OPEN")["total"] == 1
        client("MENU.ITEM.RESUME", name, "fries")
        assert client.json("BROWSE", "OUTLET", name, "OPEN")["total"] == 3
        options = client.json("ITEM.GET", name, "meal")["groups"][0]["options"]
        assert [option["available"] for option in options] == [True, False]

    def test_a_menu_that_was_read_can_be_put_back(self, client, name):
        put_menu(client, name)
        version = client.json("MENU.GET", name)["version"]
        assert client("MENU.PUT", name, client("MENU.GET", name)) == version
        item = client.json("ITEM.GET", name, "burger")
        del item["outlet"], item["section"], item["currency"]
        assert client("MENU.ITEM.PUT", name, "all", "burger", json.dumps(item)) == version

    def test_groups_are_changed_alone_and_checked_with_the_menu_around_them(self, client, name):
        put_menu(client, name)
        client("MENU.GROUP.PUT", name, "extras", json.dumps({**EXTRAS, "max": 1}))
        assert client.error("CART.ADD", name, name, "burger", 1, "OPTIONS", "small,cheese*2").code == "CHOICE"
        error = client.error("MENU.GROUP.PUT", name, "size", json.dumps({**SIZE, "setsPrice": False}))
        assert error.code == "INVALID" and "groups.extras.options[0].prices.large" in str(error)
        assert client.error("MENU.GROUP.REMOVE", name, "side").code == "STATE"
        assert client.error("MENU.ITEM.REMOVE", name, "fries").code == "STATE"
        client("MENU.ITEM.REMOVE", name, "meal")
        client("MENU.GROUP.REMOVE", name, "side")
        client("MENU.ITEM.REMOVE", name, "fries")


class TestCharges:
    TERMS = {
        "minimumOrder": 500, "taxIncluded": True,
        "taxes": [{"id": "vat", "name": "VAT", "rate": 20_000}, {"id": "zero", "name": "Zero", "rate": 0}],
        "charges": {"service": {"rate": 12_500}, "delivery": {"fee": 299, "freeFrom": 2_000, "tax": "vat"}},
    }

    def test_an_order_is_what_its_quote_said(self, client, name):
        put_menu(client, name, **self.TERMS)
        add(client, name, name, "burger", "large,cheese")
        assert client("CART.TIP", name, 100) == 1
        quote = client.json("CART.QUOTE", name)
        assert (quote["subtotal"], quote["total"]) == (1100, 1100 + 138 + 299 + 100)
        assert [(charge["kind"], charge["amount"]) for charge in quote["charges"]] == [
            ("service", 138), ("delivery", 299), ("tax", 233), ("tip", 100)]
        assert client.error("CART.CHECKOUT", name, "TOTAL", 1100).code == "TOTALCHANGED"
        assert client.error("CART.CHECKOUT", name).code == "INVALID"
        assert client.error("CART.CHECKOUT", name, "TOTAL", 1637, "QUOTE", quote["quote"]).code == "INVALID"
        order = client("CART.CHECKOUT", name, "QUOTE", quote["quote"]).decode()
        document = client.json("ORDER.GET", order)
        assert (document["charges"], document["total"]) == (quote["charges"], quote["total"])
        assert client.json("CART.GET", name)["total"] == quote["total"]
        after = client.json("CART.QUOTE", name)
        assert (after["charges"], after["total"], after["quote"], after["order"]) == (
            quote["charges"], quote["total"], None, order)
        assert read_log(client, "STREAM", f"order-{order}")[0]["payload"]["charges"] == quote["charges"]

    def test_a_quote_is_void_when_anything_priced_has_changed_even_at_an_equal_total(self, client, name):
        put_menu(client, name, **self.TERMS)
        add(client, name, name, "burger", "large,cheese*2")
        quote = client.json("CART.QUOTE", name)
        # One unit of cheese is free: the other one's price goes from the option's to the base's.
        client("MENU.OPTION.PRICE", name, "cheese", 100, "SIZE", "large")
        client("MENU.OPTION.PRICE", name, "large", 1150)
        assert client.json("CART.QUOTE", name)["total"] == quote["total"]
        assert client.error("CART.CHECKOUT", name, "QUOTE", quote["quote"]).code == "TOTALCHANGED"

    def test_a_quote_of_what_cannot_be_had_cannot_be_agreed_to(self, client, name):
        put_menu(client, name, **self.TERMS)
        add(client, name, name, "meal", "with-salad")
        client("MENU.OPTION.SUSPEND", name, "with-salad")
        quote = client.json("CART.QUOTE", name)
        assert quote["quote"] is None and quote["lines"][0]["problem"]["code"] == "OPTIONSOLDOUT"
        assert client("CART.QUOTE", name + "-none") is None

    def test_an_item_names_one_of_the_outlet_s_taxes(self, client, name):
        put_menu(client, name, **self.TERMS)
        fries = item_document("fries", 300, tax="food")
        assert str(client.error("MENU.ITEM.PUT", name, "all", "fries", json.dumps(fries))) == (
            "INVALID tax: the outlet has no tax 'food'")
        assert str(client.error("MENU.PUT", name, json.dumps({"sections": [section_document("all", [fries])]}))) == (
            "INVALID sections[0].items[0].tax: the outlet has no tax 'food'")
        assert "tax" not in client.json("ITEM.GET", name, "fries")

    def test_an_outlet_keeps_the_taxes_that_its_items_name(self, client, name):
        put_menu(client, name, **self.TERMS)
        client("MENU.ITEM.PUT", name, "all", "fries", json.dumps(item_document("fries", 300, tax="zero")))
        client("CART.ADD", name, name, "fries", 2)
        less = json.dumps(outlet_document(**{**self.TERMS, "taxes": self.TERMS["taxes"][:1]}))
        assert str(client.error("OUTLET.PUT", name, less)) == (
            "STATE item 'fries' names the tax 'zero', so the outlet keeps it")
        assert client.json("CART.QUOTE", name)["total"] == 600 + 75 + 299
        client("MENU.ITEM.REMOVE", name, "meal")
        client("MENU.GROUP.REMOVE", name, "side")
        client("MENU.ITEM.REMOVE", name, "fries")
        client("OUTLET.PUT", name, less)

    def test_no_moment_of_the_log_has_an_item_with_a_tax_that_there_is_not(self, database):
        """Two servers, with two pipelines each: some drop and add a tax, some add and remove an item that names it."""
        taxed = outlet_document(**self.TERMS)
        plain = outlet_document(**{**self.TERMS, "taxes": self.TERMS["taxes"][:1]})
        pie = item_document("pie", 300, tax="zero")
        outlets = [("OUTLET.PUT", "o", json.dumps(document)) for document in [plain, taxed] * 100]
        menus = [("MENU.ITEM.PUT", "o", "all", "pie", json.dumps(pie)), ("MENU.ITEM.REMOVE", "o", "pie")] * 100
        replies = []

        def send(server, commands):
            with server.client() as client:
                replies.extend(client.pipeline(commands))

        with Server(database=database) as one, Server(database=database) as two, one.client() as client:
            client("OUTLET.PUT", "o", json.dumps(taxed))
            client("MENU.PUT", "o", json.dumps({"sections": [section_document("all", [])]}))
            threads = [
                threading.Thread(target=send, args=(server, commands))
                for server in (one, two) for commands in (outlets, menus)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            events = read_log(client)
        refused = {reply.code for reply in replies if isinstance(reply, ReplyError)}
        assert {"STATE", "INVALID"} <= refused <= {"STATE", "INVALID", "NOTFOUND", "BUSY"}
        has_tax = names_tax = False
        for event in events:
            if event["kind"] == "outlet.registered":
                has_tax = True
            elif event["kind"] == "outlet.detailsChanged":
                has_tax = "zero" in json.dumps(event["payload"])
            elif event["kind"] in ("menu.itemAdded", "menu.itemRemoved"):
                names_tax = event["kind"] == "menu.itemAdded"
            assert has_tax or not names_tax, event

    @pytest.mark.parametrize("changes, field", [
        ({"taxes": [{"id": "vat", "name": "VAT", "rate": 1}]}, "taxIncluded"),
        ({"taxIncluded": False, "taxes": [{"id": "vat", "name": "VAT", "rate": 100_001}]}, "taxes[0].rate"),
        ({"charges": {"service": {"rate": 1, "tax": "vat"}}}, "charges.service.tax"),
        ({"charges": {"delivery": {"fee": -1}}}, "charges.delivery.fee"),
        ({"charges": {"tip": 1}}, "charges.tip"),
    ])
    def test_terms_that_cannot_be_are_refused_by_the_field(self, client, name, changes, field):
        document = {"name": "O", "currency": "EUR", "timeZone": "Europe/Berlin", **changes}
        error = client.error("OUTLET.PUT", name, json.dumps(document))
        assert error.code == "INVALID" and field in str(error)

    def test_whether_prices_include_taxes_is_said_once(self, client, name):
        put_menu(client, name, **self.TERMS)
        error = client.error("OUTLET.PUT", name, json.dumps(
            {"name": "O", "currency": "GBP", "timeZone": "Europe/London", "taxIncluded": False}))
        assert error.code == "STATE"


def test_options_and_charges_survive_a_restart_and_an_audit():
    with fresh_database() as database:
        with Server(database=database) as server, Client(server.port) as client:
            put_menu(client, "o", currency="GBP", **TestCharges.TERMS)
            client("MENU.OPTION.SUSPEND", "o", "bacon")
            add(client, "c", "o", "burger", "large,cheese")
            before = [client("OUTLET.HOME", "o"), client("MENU.GET", "o"), client("CART.QUOTE", "c")]
        with Server(database=database) as server, Client(server.port) as client:
            assert [client("OUTLET.HOME", "o"), client("MENU.GET", "o"), client("CART.QUOTE", "c")] == before
            order = client("CART.CHECKOUT", "c", "QUOTE", json.loads(before[2])["quote"]).decode()
        audit = run_tiffin("audit", "--database", database)
        assert audit.returncode == 0 and "sound" in audit.stdout
        story = run_tiffin("why", "--database", database, "order", order).stdout
        assert "1 × Burger (Cheese, Large) at 11.00 GBP" in story and "VAT 2.33 GBP included" in story
