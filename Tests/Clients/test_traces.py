"""`TRACE`: what a change is part of is in the log, goes on with relays, and a collector gets spans by OTLP over HTTP."""

import http.client
import json
import time

import pytest

from receiver import Receiver
from test_relay import Relay, secret_of
from tiffin import PATIENCE_SECONDS, Server, item_document, put_open_outlet, run_tiffin, section_document, wait_until

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
KEPT, NOT_KEPT = f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-00"


class Collector(Receiver):
    """A collector of traces, which reads what it gets as the JSON of Protocol Buffers wants it."""

    @property
    def base(self):
        return self.url.removesuffix("/events")

    def spans(self):
        spans = []
        for path, headers, body, _ in list(self.requests):
            assert (path, headers["Content-Type"]) == ("/v1/traces", "application/json")
            for resource in json.loads(body)["resourceSpans"]:
                assert attributes(resource["resource"])["service.name"] == "tiffin"
                spans += [span for scope in resource["scopeSpans"] for span in scope["spans"]]
        return spans

    def wait_for_spans(self, count):
        wait_until(lambda: len(self.spans()) >= count, f"{count} spans")
        return self.spans()


def attributes(holder) -> dict:
    return {attribute["key"]: attribute["value"]["stringValue"] for attribute in holder["attributes"]}


def lost(client) -> int:
    return int(dict(
        line.split(":") for line in client("INFO", "stats").decode().splitlines() if ":" in line)["spans_lost"])


@pytest.fixture
def traced(database):
    with Collector() as collector:
        options = ["--traces", collector.base]
        with Server(database=database, options=options, environment={"TIFFIN_WEB": "127.0.0.1:0"}) as server:
            with server.client() as client:
                put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])
                yield server, client, collector


def test_a_command_that_is_kept_has_one_span_once_it_is_durable(traced):
    _, client, collector = traced
    began = time.time_ns()
    assert client("CART.ADD", "c", "kitchen", "tea", 1, "TRACE", KEPT) == 1
    assert client("CART.ADD", "c", "kitchen", "tea", 1, "TRACE", NOT_KEPT) == 2
    assert client("CART.ADD", "c", "kitchen", "tea", 1) == 3
    assert client.error("CART.ADD", "c", "kitchen", "soup", 1, "TRACE", KEPT).code == "NOTFOUND"
    ended = time.time_ns()
    added, refused = collector.wait_for_spans(2)
    for span in added, refused:
        assert (span["traceId"], span["parentSpanId"], span["name"]) == (TRACE, PARENT, "CART.ADD")
        assert len(bytes.fromhex(span["spanId"])) == 8
        assert span["kind"] == 2, "it is a server's span"
        # The server's clock is this machine's, read in microseconds.
        assert began - 10**6 <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) <= ended + 10**6
        # What a client asks wrongly is no fault of the server.
        assert span["status"] == {}
    assert added["spanId"] != refused["spanId"]
    assert attributes(added) == {"tiffin.stream": "cart-c"}
    assert attributes(refused) == {"tiffin.stream": "cart-c", "error.type": "NOTFOUND"}
    assert lost(client) == 0


def test_events_keep_the_trace_and_an_id_does_not_stand_for_it(traced):
    _, client, _ = traced
    assert client("CART.ADD", "c", "kitchen", "tea", 1, "ID", "tap", "TRACE", KEPT) == 1
    assert client("CART.ADD", "c", "kitchen", "tea", 1, "ID", "tap", "TRACE", NOT_KEPT) == 1
    traces = [json.loads(event)["metadata"].get("trace") for event in client("LOG.READ", "STREAM", "cart-c")]
    assert traces == [KEPT]


def test_what_completes_a_checkout_keeps_its_trace_and_is_no_span_of_its_own(traced):
    _, client, collector = traced
    client("MENU.ITEM.STOCK", "kitchen", "tea", "COUNT", 5)
    client("CART.ADD", "c", "kitchen", "tea", 2)
    head = client.json("LOG.HEAD")[0]["position"]
    order = client("CART.CHECKOUT", "c", "TOTAL", 200, "FLOW", "visit", "TRACE", KEPT).decode()
    client("ORDER.CANCEL", order, "BY", "customer", "CODE", "CUSTOMER", "TRACE", KEPT)
    returned = "order.claimsReturned"
    wait_until(lambda: returned in kinds_since(client, head), "what was claimed to be given back")
    assert set(kinds_since(client, head).values()) == {KEPT}
    assert {"cart.checkoutBegun", "supply.held", "order.placed", "cart.checkedOut", returned} <= set(kinds_since(client, head))
    assert [span["name"] for span in collector.wait_for_spans(2)] == ["CART.CHECKOUT", "ORDER.CANCEL"]


def kinds_since(client, head) -> dict:
    """The traces of the events behind a position, by their kinds."""
    events = [json.loads(event) for event in client("LOG.READ", "FROM", head + 1)]
    return {event["kind"]: event["metadata"].get("trace") for event in events}


def test_why_names_the_trace(traced):
    server, client, _ = traced
    client("CART.ADD", "c", "kitchen", "tea", 1, "TRACE", KEPT)
    why = run_tiffin("why", "cart", "c", "--server", f"127.0.0.1:{server.port}")
    assert f"trace {TRACE}" in why.stdout, why


@pytest.mark.parametrize("trace", ["", "x", KEPT.upper(), KEPT + "-", f"ff-{TRACE}-{PARENT}-01", f"00-{'0' * 32}-{PARENT}-01"])
def test_a_malformed_trace_is_refused_where_it_is_an_option_and_ignored_where_it_is_a_header(traced, trace):
    server, client, _ = traced
    assert client.error("CART.ADD", "c", "kitchen", "tea", 1, "TRACE", trace).code == "INVALID"
    assert client("CART.COUNT", "c") == 0
    assert "trace" not in added_by_http(server, client, trace)["metadata"]


def added_by_http(server, client, trace) -> dict:
    """The last event of the log after a visitor of the store has added a tea to the cart."""
    connection = http.client.HTTPConnection(server.site("store"), timeout=PATIENCE_SECONDS)
    body = json.dumps({"outlet": "kitchen", "item": "tea", "quantity": 1})
    connection.request("POST", "/v1/cart/lines", body, {"Content-Type": "application/json", "traceparent": trace})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    connection.close()
    return json.loads(client("LOG.READ", "FROM", client.json("LOG.HEAD")[0]["position"])[0])


def test_a_web_page_is_traced_by_its_header(traced):
    server, client, collector = traced
    event = added_by_http(server, client, KEPT)
    assert event["metadata"]["trace"] == KEPT
    span, = collector.wait_for_spans(1)
    assert (span["name"], attributes(span)["tiffin.stream"]) == ("CART.ADD", event["stream"])


def test_a_relay_sends_the_trace_on(database):
    with Server(database=database) as server, server.client() as client, Receiver() as receiver:
        secret_of(database)
        put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])
        client("CART.ADD", "c", "kitchen", "tea", 1, "TRACE", KEPT)
        client("CART.ADD", "c", "kitchen", "tea", 1)
        for options in [], ["--name", "clouds", "--format", "cloudevents"]:
            before = len(receiver.taken)
            with Relay(server, database, receiver, "--only", "cart", *options):
                receiver.wait_for(lambda: len(receiver.taken) >= before + 2)
        posted = [(headers.get("traceparent"), json.loads(body).get("traceparent")) for _, headers, body, _ in receiver.requests]
        assert posted == [(KEPT, None), (None, None), (KEPT, KEPT), (None, None)]


def test_no_command_waits_for_a_collector_that_is_away_or_silent(traced):
    server, client, collector = traced
    collector.plan += ["hang"] * 100
    pipelined = client.pipeline(("CART.ADD", f"c{n}", "kitchen", "tea", 1, "TRACE", KEPT) for n in range(1_000))
    assert pipelined == [1] * 1_000
    wait_until(lambda: lost(client) > 0, "spans to be lost")
    server.wait_for_output("spans are lost: the address of their collector ")
    collector.plan.clear()
    wait_until(lambda: len(collector.spans()) + lost(client) >= 1_000, "every span to be sent or counted")
    assert client("CART.ADD", "c", "kitchen", "tea", 1, "TRACE", KEPT) == 1
    server.wait_for_output("the collector takes spans again")


def test_what_comes_while_a_collector_is_silent_is_sent_after_it_by_itself(traced):
    _, client, collector = traced
    collector.plan += ["hang"]
    client("CART.ADD", "first", "kitchen", "tea", 1, "TRACE", KEPT)
    collector.wait_for_spans(1)
    client("CART.ADD", "second", "kitchen", "tea", 1, "TRACE", KEPT)
    streams = [attributes(span)["tiffin.stream"] for span in collector.wait_for_spans(2)]
    assert streams == ["cart-first", "cart-second"]


def test_two_servers_export_the_span_of_a_command_once(database):
    with Collector() as collector:
        options = ["--traces", collector.base]
        with Server(database=database, options=options) as one, Server(database=database, options=options) as two:
            with one.client() as client, two.client() as other:
                put_open_outlet(client, "kitchen", [section_document("all", [item_document("tea", 100)])])
                for number, server in enumerate((client, other)):
                    assert server("CART.ADD", f"c{number}", "kitchen", "tea", 1, "TRACE", KEPT) == 1
            spans = collector.wait_for_spans(2)
            assert sorted(attributes(span)["tiffin.stream"] for span in spans) == ["cart-c0", "cart-c1"]
