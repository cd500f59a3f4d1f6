"""`tiffin mcp`: what a language model's program sees, at a real server."""

import contextlib
import json
import re
import subprocess
import urllib.request

import pytest

from tiffin import REPLY_SECONDS, ReplyError, Server, binary, fresh_database, read_log, run_tiffin, wait_until


class Model:
    """A program that starts `tiffin mcp` and calls its tools."""

    def __init__(self, server, *options, environment=None):
        self.process = subprocess.Popen(
            [binary(), "mcp", "--server", f"127.0.0.1:{server.port}", *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=REPLY_SECONDS)
        self.process.stdout.close()

    def request(self, method, **parameters):
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self.number)
        return answer["result"]

    def call(self, tool, **arguments):
        """The document that a tool answers."""
        answer = self.request("tools/call", name=tool, arguments=arguments)
        assert not answer["isError"], answer
        text = json.loads(answer["content"][0]["text"])
        assert answer.get("structuredContent", text) == text
        return text

    def refusal(self, tool, **arguments):
        answer = self.request("tools/call", name=tool, arguments=arguments)
        assert answer["isError"], answer
        return answer["content"][0]["text"]


@pytest.fixture(scope="module")
def demo():
    with fresh_database() as database:
        options = ["--demo", "--web", "127.0.0.1:0"]
        with Server(database=database, options=options) as server:
            yield server


def test_a_model_orders_what_was_shown_and_a_merchant_cooks_it(demo):
    with Model(demo) as model, Model(demo, "--role", "merchant") as merchant:
        welcome = model.request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t"})
        assert (welcome["protocolVersion"], welcome["serverInfo"]["name"]) == ("2025-06-18", "tiffin")
        tools = {tool["name"]: tool for tool in model.request("tools/list")["tools"]}
        assert tools["add_to_cart"]["inputSchema"]["required"] == ["outlet", "item", "quantity"]
        assert tools["get_quote"]["annotations"]["readOnlyHint"] and "accept_order" not in tools
        assert model.call("search_outlets", city="edinburgh")["items"][0]["id"] == "copper-ladle"
        pies = model.call("search_items", text="pie", outlet="copper-ladle", open=True, sort="price", limit=1)
        pie = pies["items"][0]
        assert model.call("get_item", outlet=pie["outlet"], item=pie["item"])["name"] == "Chicken & Leek Pie"
        assert model.call("get_menu", outlet=pie["outlet"])["sections"]
        line = {"outlet": pie["outlet"], "item": pie["item"], "quantity": 1, "note": "no peas"}
        assert model.call("add_to_cart", **line) == {"count": 1}
        line = model.call("get_cart")["lines"][0]["line"]
        assert model.call("set_quantity", line=line, quantity=2) == {"count": 2}
        assert model.refusal("place_order", quote="0" * 32).startswith("STATE no quote with this digest was shown")
        quote = model.call("get_quote")
        assert quote["total"] == 2590
        with demo.client() as client:
            client("MENU.ITEM.PRICE", "copper-ladle", pie["item"], 1300)
            # What was shown is not what it costs any more.
            assert model.refusal("place_order", quote=quote["quote"]) == (
                "TOTALCHANGED what is priced has changed since that quote; the total is 26.00 GBP")
            quote = model.call("get_quote")
            order = model.call("place_order", quote=quote["quote"])["order"]
            assert model.call("place_order", quote=quote["quote"]) == {"order": order}
            placed = [event for event in read_log(client) if event["kind"] == "order.placed"]
            assert [event["stream"] for event in placed] == [f"order-{order}"]
        assert model.call("get_cart") is None
        assert order in [each["order"] for each in merchant.call("get_kitchen", outlet="copper-ladle")["orders"]]
        assert merchant.call("accept_order", order=order) == {"version": 2}
        assert model.call("get_order", order=order)["status"] == "accepted"
        assert model.refusal("cancel_order", order=order, code="CUSTOMER").startswith("STATE ")


def test_a_model_may_do_what_its_user_may_do_and_the_server_may_start_again(database, tmp_path):
    with Server(database=database, options=["--demo"]) as server:
        server.arguments[2] = f"127.0.0.1:{server.port}"
        for added in (["root", "--role", "admin"], ["anna", "--role", "customer", "--only", "anna"]):
            assert run_tiffin("user", "add", *added, "--no-password", "--database", database).returncode == 0
        token = run_tiffin("user", "token", "anna", "--database", database).stdout.split()[-1]
        with server.client() as client:

            def is_known():
                with contextlib.suppress(ReplyError):
                    return client("AUTH", "anna", token)

            wait_until(is_known, "the token to be known")
        secret = tmp_path / "token"
        secret.write_text(token)
        login = ["--user", "anna", "--password-file", str(secret)]
        with Model(server, *login, "--customer", "anna") as anna, Model(server, *login, "--role", "merchant") as other:
            assert anna.call("add_to_cart", outlet="copper-ladle", item="fish-pie", quantity=1) == {"count": 1}
            assert other.refusal("get_kitchen", outlet="copper-ladle").startswith("NOPERM ")
            server.kill()
            server.start()
            assert anna.call("get_cart")["lines"][0]["item"] == "fish-pie"
        with Model(server, *login) as stranger:
            assert stranger.refusal("get_cart").startswith("NOPERM ")


def test_the_store_says_where_a_model_finds_what(demo):
    url = f"http://{demo.site('store')}"
    with urllib.request.urlopen(f"{url}/llms.txt", timeout=REPLY_SECONDS) as answer:
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        text = answer.read().decode()
    assert text.startswith("# Tiffin\n")
    for path in re.findall(r"\]\((/[^)]+)\)", text):
        with urllib.request.urlopen(url + path, timeout=REPLY_SECONDS) as answer:
            assert answer.status == 200, path
