"""How an order is had, over the wire: pickup, delivery and table, what each costs and needs, and who is told."""

import json
import subprocess
from datetime import datetime

import pytest

from edits import patched
from followers import message
from test_subscriptions import subscribe
from tiffin import (
    PATIENCE_SECONDS, Server, binary, item_document, outlet_document, put_open_outlet, read_log, run_tiffin,
    section_document, sql,
)

PHONE, ADDRESS, NAME = "0171 5550100", "12 Mill Road, second door", "Asha Fernando"
SERVICES = {
    "pickup": {},
    "delivery": {
        "charges": {"delivery": {"fee": 250, "tax": "vat"}}, "minimumOrder": 1_500, "prepMinutes": 40,
        "requires": ["address", "name", "phone"]},
    "table": {"requires": ["table"], "hours": [{"day": "friday", "opens": "18:00", "closes": "25:00"}]},
}


def open_bistro(client, outlet, services=SERVICES, **changes):
    soup = item_document("soup", 800, prices={"delivery": 850})
    put_open_outlet(
        client, outlet, [section_document("all", [soup, item_document("bread", 300)])], **{
            "acceptWithin": 600, "prepMinutes": 15, "taxIncluded": True, "services": services,
            "taxes": [{"id": "vat", "name": "VAT", "rate": 7_000, "rates": {"table": 19_000}}], **changes})


def rate(quote):
    return [charge["rate"] for charge in quote["charges"] if charge["kind"] == "tax"]


class TestCarts:
    def test_a_service_changes_what_a_cart_costs_and_none_of_its_lines(self, client, name):
        open_bistro(client, name)
        client("CART.ADD", name, name, "soup", 2)
        first = client.json("CART.QUOTE", name)
        assert (first["service"], first["total"], rate(first)) == ("pickup", 1_600, [7_000])
        assert list(first)[3:7] == ["currency", "service", "services", "lines"]
        assert first["services"] == ["pickup", "delivery", "table"]
        assert "service" not in client.json("CART.GET", name), "nobody has chosen yet"
        lines = client.json("CART.GET", name)["lines"]
        seen = {first["quote"]}
        for service, total, rates in (("table", 1_600, [19_000]), ("delivery", 1_950, [7_000]), ("pickup", 1_600, [7_000])):
            assert client("CART.SERVICE", name, service) == 2
            version = client.json("CART.GET", name)["version"]
            assert client("CART.SERVICE", name, service) == 2
            assert client.json("CART.GET", name)["version"] == version, "the same again is no event"
            quote = client.json("CART.QUOTE", name)
            assert (quote["service"], quote["total"], rate(quote)) == (service, total, rates)
            assert quote["minimumOrder"] == (1_500 if service == "delivery" else 0)
            cart = client.json("CART.GET", name)
            assert cart["service"] == service
            assert [line | {"problem": None} for line in cart["lines"]] == lines
            changed = {"code": "PRICECHANGED", "unitPrice": 850} if service == "delivery" else None
            assert cart["lines"][0]["problem"] == changed
            seen.add(quote["quote"])
        assert len(seen) == 3, "pickup has one digest, whether it was chosen or not"
        # What is added costs what it does in that service.
        client("CART.SERVICE", name, "delivery")
        client("CART.ADD", f"{name}-2", name, "bread", 1)
        client("CART.SERVICE", f"{name}-2", "delivery")
        client("CART.ADD", f"{name}-2", name, "soup", 1)
        assert [line["unitPrice"] for line in client.json("CART.GET", f"{name}-2")["lines"]] == [300, 850]
        # An empty cart has none.
        client("CART.CLEAR", name)
        client("CART.ADD", name, name, "soup", 1)
        assert client.json("CART.QUOTE", name)["service"] == "pickup"

    def test_the_names_of_services_have_no_order(self, client, name):
        for place, services in enumerate((("table", "delivery"), ("delivery", "table"))):
            open_bistro(client, f"{name}-{place}", {service: SERVICES[service] for service in services})
            shown = client.json("OUTLET.GET", f"{name}-{place}")["services"]
            assert list(shown) == ["delivery", "table"]
            client("CART.ADD", f"{name}-{place}", f"{name}-{place}", "soup", 1)
            assert client.json("CART.QUOTE", f"{name}-{place}")["service"] == "delivery"

    def test_an_outlet_is_put_back_as_it_was_read(self, client, name):
        open_bistro(client, name)
        outlet, menu = client.json("OUTLET.GET", name), client.json("MENU.GET", name)
        assert outlet["services"]["delivery"] | {"requires": 0} == SERVICES["delivery"] | {"requires": 0}
        assert outlet["services"]["delivery"]["requires"] == ["name", "phone", "address"]
        assert outlet["services"]["table"] == SERVICES["table"]
        assert menu["sections"][0]["items"][0]["prices"] == {"delivery": 850}
        assert client("OUTLET.PUT", name, json.dumps(outlet)) == outlet["version"]
        assert client("MENU.PUT", name, json.dumps(menu)) == menu["version"]
        model = client.json("OUTLET.HOME", name)["sections"][0]["items"][0]["model"]
        assert (model["price"], model["prices"]) == (800, {"delivery": 850})

    @pytest.mark.parametrize("words, code, part", [
        (("delivery",), "INVALID", "offers pickup, table, and not 'delivery'"),
        (("pickup", "TABLE", "4"), "INVALID", "TABLE: "), (("table", "TABLE", ""), "INVALID", "TABLE: "),
        (("table", "TABLE", "4\n5"), "INVALID", "TABLE: "), (("table", "TABLE", "x" * 41), "INVALID", "TABLE: "),
        (("drone",), "INVALID", "service: must be one of pickup, delivery, table"), (("PICKUP",), "INVALID", "service: "),
    ])
    def test_what_cannot_be_chosen_is_refused_and_not_stored(self, client, name, words, code, part):
        open_bistro(client, name, {"pickup": {}, "table": {}})
        client("CART.ADD", name, name, "soup", 1)
        error = client.error("CART.SERVICE", name, *words)
        assert error.code == code and part in str(error)
        assert client.json("CART.GET", name)["version"] == 1

    @pytest.mark.parametrize("document, error", [
        ('{"services":{"drone":{}}}', "services: must have no other names than pickup, delivery, table"),
        ('{"services":{"table":{"requires":["hat"]}}}', "services.table.requires[0]: must be one of name, phone, address, table"),
        ('{"services":{"pickup":{"requires":["table"]}}}', "services.pickup.requires: "),
        ('{"services":{"pickup":{"prepMinutes":1441}}}', "services.pickup.prepMinutes: must be from 0 to 1440, is 1441"),
        ('{"services":{"pickup":{"charges":{"delivery":{"fee":-1}}}}}', "services.pickup.charges.delivery.fee: "),
        ('{"services":{"pickup":{"charges":{"service":{"rate":1,"tax":"x"}}}}}', "services.pickup.charges.service.tax: no tax 'x'"),
        ('{"services":{"pickup":{"hours":[{"day":"moonday","opens":"09:00","closes":"10:00"}]}}}', "services.pickup.hours[0].day: "),
        ('{"taxIncluded":true,"taxes":[{"id":"t","name":"T","rate":1,"rates":{"table":100001}}]}', "taxes[0].rates.table: must be from 0"),
    ])
    def test_a_document_with_a_wrong_service_is_refused_by_the_field(self, client, name, document, error):
        document = json.dumps(outlet_document())[:-1] + "," + document[1:]
        refused = client.error("OUTLET.PUT", name, document)
        assert refused.code == "INVALID" and str(refused).startswith(f"INVALID {error}")
        assert client("OUTLET.GET", name) is None

    @pytest.mark.parametrize("prices, error", [
        ({"drone": 1}, "must have no other names than pickup, delivery, table"), ({"table": -1}, ".table: must be from 0"),
        ({"table": "1"}, ".table: must be a whole number"), ({"table": 10**12 + 1}, ".table: must be from 0"),
    ])
    def test_an_item_with_a_wrong_price_is_refused_by_the_field(self, client, name, prices, error):
        open_bistro(client, name)
        menu = {"sections": [section_document("all", [item_document("soup", 800), item_document("bad", 1, prices=prices)])]}
        refused = client.error("MENU.PUT", name, json.dumps(menu))
        assert refused.code == "INVALID" and "sections[0].items[1].prices" in str(refused) and error in str(refused)
        assert client.json("MENU.GET", name)["version"] == 3

    def test_a_service_that_is_gone_is_not_replaced(self, client, name):
        open_bistro(client, name)
        client("CART.ADD", name, name, "soup", 2)
        client("CART.SERVICE", name, "table", "TABLE", "4")
        client("OUTLET.PUT", name, json.dumps(client.json("OUTLET.GET", name) | {"services": {"pickup": {}}}))
        quote = client.json("CART.QUOTE", name)
        assert (quote["service"], quote["total"], quote["quote"]) == ("table", None, None)
        assert quote["problem"].startswith("REQUIRED ") and "choose pickup" in quote["problem"]
        error = client.error("CART.CHECKOUT", name, "TOTAL", 1_600)
        assert error.code == "REQUIRED" and str(error).startswith("REQUIRED service: ")
        client("CART.SERVICE", name, "pickup")
        assert "table" not in client.json("CART.QUOTE", name)
        client("CART.CHECKOUT", name, "QUOTE", client.json("CART.QUOTE", name)["quote"])

    def test_a_quote_of_one_service_is_not_agreed_to_in_another(self, client, name):
        open_bistro(client, name)
        client("CART.ADD", name, name, "bread", 1)
        quote = client.json("CART.QUOTE", name)
        client("CART.SERVICE", name, "table", "TABLE", "4")
        assert client.json("CART.QUOTE", name)["total"] == quote["total"]
        assert client.error("CART.CHECKOUT", name, "QUOTE", quote["quote"]).code == "TOTALCHANGED"


class TestOrders:
    def deliver(self, client, name, *words, service="delivery"):
        client("CART.ADD", name, name, "soup", 2)
        client("CART.SERVICE", name, service)
        return client("CART.CHECKOUT", name, "TOTAL", 1_950, "CUSTOMER", f"{name}-asha", *words)

    TEXTS = ("NAME", NAME, "PHONE", PHONE, "ADDRESS", ADDRESS)

    @pytest.mark.parametrize("missing", ["NAME", "PHONE", "ADDRESS"])
    def test_what_is_missing_is_named(self, client, name, missing):
        open_bistro(client, name)
        client("CART.ADD", name, name, "soup", 2)
        client("CART.SERVICE", name, "delivery")
        assert client.json("CART.QUOTE", name)["requires"] == ["name", "phone", "address"]
        texts = [word for pair in zip(self.TEXTS[::2], self.TEXTS[1::2]) if pair[0] != missing for word in pair]
        error = client.error("CART.CHECKOUT", name, "TOTAL", 1_950, "CUSTOMER", f"{name}-asha", *texts)
        assert error.code == "REQUIRED" and str(error).startswith(f"REQUIRED {missing}: ")
        assert client.json("CART.GET", name)["status"] == "open"

    def test_a_table_and_a_minimum_are_needed_as_the_service_says(self, client, name):
        open_bistro(client, name)
        client("CART.ADD", name, name, "soup", 1)
        client("CART.SERVICE", name, "delivery")
        error = client.error("CART.CHECKOUT", name, "TOTAL", 1_100, "CUSTOMER", f"{name}-asha", *self.TEXTS)
        assert error.code == "LIMIT" and "15.00" in str(error)
        client("CART.SERVICE", name, "table")
        assert str(client.error("CART.CHECKOUT", name, "TOTAL", 800)).startswith("REQUIRED TABLE: ")
        client("CART.SERVICE", name, "table", "TABLE", "4")
        order = client("CART.CHECKOUT", name, "TOTAL", 800).decode()
        document = client.json("ORDER.GET", order)
        assert (document["service"], document["table"], rate(document)) == ("table", "4", [19_000])

    def test_everybody_is_told_how_an_order_is_had(self, client, server, name):
        open_bistro(client, name)
        with server.client() as cook:
            subscribe(cook, f"kitchen:{name}")
            order = self.deliver(client, name, *self.TEXTS).decode()
            told = {"phone": PHONE, "address": ADDRESS, "service": "delivery", "name": NAME}
            document = client.json("ORDER.GET", order)
            assert {key: document[key] for key in told} == told
            assert list(document)[3:8] == ["customer", "name", "phone", "address", "service"]
            assert seconds(document) == 40 * 60, "the promise is that of the service"
            (ticket,) = client.json("KITCHEN", name)["orders"]
            assert {key: ticket[key] for key in told} == told
            change = message(cook.read())
            assert ADDRESS in json.dumps(change), change
        assert client.json("CART.GET", name)["service"] == "delivery"
        assert client.json("CART.QUOTE", name)["service"] == "delivery"
        (placed,) = read_log(client, "STREAM", f"order-{order}")
        assert (placed["schemaVersion"], placed["payload"]["service"]) == (4, "delivery")
        receipt = client("LOG.PROVE", f"order-{order}", 1)
        assert json.loads(json.loads(receipt)["event"]["payload"])["service"] == "delivery"
        run = subprocess.run([binary(), "verify", "-"], input=receipt, capture_output=True, timeout=PATIENCE_SECONDS)
        assert run.returncode == 0, run
        # What was placed stays, whatever the outlet says later.
        open_bistro(client, name, {"pickup": {"charges": {"delivery": {"fee": 1}}}})
        assert client.json("ORDER.GET", order) == document

    def test_changes_of_carts_and_orders_lead_to_them(self, client, name):
        open_bistro(client, name)
        client("CART.ADD", name, name, "soup", 2)
        before = client.json("CART.GET", name)
        client("CART.SERVICE", name, "table", "TABLE", "4")
        now = client.json("CART.GET", name)
        assert patched(before, json.loads(client("CART.GET", name, "SINCE", 1))) == now
        head = client.json("LOG.HEAD")[0]["position"]
        client("CART.SERVICE", name, "pickup")
        assert json.loads(client("CART.GET", name, "AT", head)) == now

    def test_the_same_checkout_sent_again_is_known_in_any_order_of_its_texts(self, client, name):
        open_bistro(client, name)
        client("CART.ADD", name, name, "soup", 2)
        client("CART.SERVICE", name, "delivery")
        for texts in (self.TEXTS, self.TEXTS[4:] + self.TEXTS[:4]):
            cart = f"{name}-{texts[0]}"
            client("CART.ADD", cart, name, "soup", 2)
            client("CART.SERVICE", cart, "delivery")
            words = ("CART.CHECKOUT", cart, "TOTAL", 1_950, "CUSTOMER", f"{name}-asha", *texts, "ID", "pay")
            order = client(*words)
            assert client(*words) == order
            other = [word if word != ADDRESS else "13 Mill Road" for word in words]
            assert client.error(*other).code == "IDMISMATCH"

    def test_refunds_give_back_the_tax_of_the_service(self, client, name):
        open_bistro(client, name)
        client("CART.ADD", name, name, "bread", 2)
        client("CART.SERVICE", name, "table", "TABLE", "4")
        order = client("CART.CHECKOUT", name, "TOTAL", 600).decode()
        client("ORDER.REFUND", order, "LINE", "bread", "QTY", 1, "CODE", "ITEMS")
        assert client.json("ORDER.GET", order)["refundedTaxes"] == [
            {"id": "vat", "rate": 19_000, "base": 300, "amount": 48}]


def seconds(order):
    placed, promised = (datetime.fromisoformat(order[key]) for key in ("placedAt", "promisedFor"))
    return round((promised - placed).total_seconds())


def test_texts_are_sealed_forgotten_and_survive_a_restart(database):
    with Server(database=database) as server, server.client() as client:
        open_bistro(client, "bistro")
        order = TestOrders().deliver(client, "bistro", *TestOrders.TEXTS).decode()
        everything = sql("select string_agg(e::text, '') from tiffin.events e", database)
        for secret in (NAME, PHONE, ADDRESS):
            assert secret not in everything
        assert "sealedPhone" in everything and "sealedAddress" in everything
        run = run_tiffin("why", "order", order, "--database", database)
        assert run.returncode == 0 and f'for delivery, to "{ADDRESS}", phone "{PHONE}"' in run.stdout, run
    with Server(database=database) as server, server.client() as client:
        (ticket,) = client.json("KITCHEN", "bistro")["orders"]
        assert (ticket["phone"], ticket["address"], ticket["service"]) == (PHONE, ADDRESS, "delivery")
        assert client.json("OUTLET.GET", "bistro")["services"]["delivery"]["prepMinutes"] == 40
        assert run_tiffin("forget", "bistro-asha", "--database", database).returncode == 0
        document = client.json("ORDER.GET", order)
        assert {document[key] for key in ("name", "phone", "address")} == {"[erased]"}
        assert document["service"] == "delivery"
        run = run_tiffin("audit", "--database", database, "--server", f"127.0.0.1:{server.port}")
        assert run.returncode == 0 and run.stdout.splitlines()[-1].startswith("sound"), run


def test_without_services_every_event_is_written_as_before(client, name):
    put_open_outlet(
        client, name, [section_document("all", [item_document("soup", 800)])], taxIncluded=True,
        taxes=[{"id": "vat", "name": "VAT", "rate": 7_000}])
    client("CART.ADD", name, name, "soup", 1)
    quote = client.json("CART.QUOTE", name)
    assert not {"service", "services", "table", "requires"} & quote.keys()
    order = client("CART.CHECKOUT", name, "QUOTE", quote["quote"]).decode()
    assert not {"service", "table", "phone", "address"} & client.json("ORDER.GET", order).keys()
    versions = {
        event["kind"]: event["schemaVersion"]
        for stream in (f"outlet-{name}", f"menu-{name}", f"cart-{name}", f"order-{order}")
        for event in read_log(client, "STREAM", stream)}
    assert versions == {
        "outlet.registered": 2, "outlet.opened": 1, "menu.sectionAdded": 1, "menu.itemAdded": 1, "cart.itemAdded": 2,
        "cart.checkedOut": 3, "order.placed": 3}
    error = client.error("CART.SERVICE", f"{name}-2", "pickup")
    assert error.code == "STATE"
