"""The configuration of Packaging/ in front of a server: nginx speaks TLS and HTTP/2, and streams go through it."""

import http.client
import json
import re
import shutil
import socket
import subprocess
from contextlib import closing

import pytest

import tiffin
from certificates import Certificates
from tiffin import CHECKOUT, PATIENCE_SECONDS, Server, item_document, put_open_outlet, section_document

CONFIGURATION = CHECKOUT / "Packaging" / "nginx.conf"
HOST = "tiffin.example"


def free_port():
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        return listener.getsockname()[1]


class Front:
    """An nginx with that configuration, but for ports and files."""

    def __init__(self, folder, store, certificates):
        self.port = free_port()
        self.context = certificates.context()
        text = CONFIGURATION.read_text()
        for old, new in (
            ("server 127.0.0.1:7380;", f"server {store};"), ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
            ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
            ("/etc/ssl/certs/tiffin.example.pem", certificates.file("server")),
            ("/etc/ssl/private/tiffin.example.key", certificates.key("server")),
        ):
            assert old in text
            text = text.replace(old, str(new))
        main = folder / "nginx.conf"
        paths = "".join(
            f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        main.write_text(
            f"daemon off;\nerror_log stderr;\npid {folder}/pid;\nworker_processes 1;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{paths}{text}}}\n")
        self.command = ["nginx", "-p", folder, "-c", main]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        tiffin.wait_until(self.listens, "nginx to listen")
        return self

    def listens(self):
        assert self.process.poll() is None, self.process.stderr.read()
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE_SECONDS)
        self.process.stderr.close()

    def connect(self):
        connection = http.client.HTTPSConnection(HOST, self.port, context=self.context, timeout=PATIENCE_SECONDS)
        connection._create_connection = lambda _, *rest: socket.create_connection(("127.0.0.1", self.port), *rest)
        return closing(connection)


pytestmark = pytest.mark.skipif(not shutil.which("nginx"), reason="nginx is not installed")


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    certificates = Certificates(tmp_path_factory.mktemp("certificates")).sign("server", names=f"DNS:{HOST}")
    folder = tmp_path_factory.mktemp("nginx")
    # Its workers are no root, and have to reach these.
    for part in (folder, *folder.parents[:2]):
        part.chmod(0o755)
    options = ("--web", "127.0.0.1:0", "--web-host", HOST, "--web-proxy", "127.0.0.1")
    with tiffin.fresh_database() as url, Server(database=url, options=options) as server:
        with server.client() as client:
            put_open_outlet(client, "lantern", [section_document("mains", [item_document("rice", 125000)])])
        with Front(folder, server.site("store"), certificates) as front:
            front.server = server
            yield front


def test_browsers_are_offered_http_2(front):
    context = front.context
    context.set_alpn_protocols(["h2", "http/1.1"])
    with socket.create_connection(("127.0.0.1", front.port), PATIENCE_SECONDS) as plain:
        with context.wrap_socket(plain, server_hostname=HOST) as connection:
            assert connection.selected_alpn_protocol() == "h2"
    context.set_alpn_protocols(["http/1.1"])


def test_a_cart_is_filled_and_followed_through_it(front):
    with front.connect() as connection, front.connect() as stream:
        def ask(method, path, body=None, **fields):
            connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"} | fields)
            answer = connection.getresponse()
            return answer, answer.read()

        page, html = ask("GET", "/o/lantern")
        assert page.status == 200
        assert page.headers["Strict-Transport-Security"]
        cookie = re.match(r"__Host-tiffin=[0-9a-f]+\.1(?=;)", page.headers["Set-Cookie"])[0]
        home, document = ask("GET", "/v1/outlets/lantern/home")
        again, nothing = ask("GET", "/v1/outlets/lantern/home", **{"If-None-Match": home.headers["ETag"]})
        assert (again.status, nothing) == (304, b"")

        stream.request("GET", "/v1/stream?t=cart", headers={"Cookie": cookie})
        events = stream.getresponse()
        assert events.headers["Content-Type"] == "text/event-stream"

        def event():
            assert events.readline() == b"event: cart\n"
            data = json.loads(events.readline().removeprefix(b"data: "))
            assert events.readline() == b"\n"
            return data["patch"][0]["value"]

        assert event() is None
        line = {"outlet": "lantern", "item": "rice", "quantity": 2}
        origin = {"Cookie": cookie, "Origin": f"https://{HOST}"}
        added, count = ask("POST", "/v1/cart/lines", line, **origin)
        assert (added.status, json.loads(count)) == (200, {"count": 2})
        # At once, and not when a buffer is full.
        assert event()["count"] == 2
        foreign, _ = ask("POST", "/v1/cart/lines", line, Cookie=cookie, Origin="https://evil.example")
        assert foreign.status == 403


def test_who_comes_by_http_is_sent_to_https(front):
    port = re.search(r"listen 127\.0\.0\.1:(\d+);", front.command[-1].read_text())[1]
    with closing(http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE_SECONDS)) as connection:
        connection.request("GET", "/o/lantern?x=1", headers={"Host": HOST})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Location"]) == (301, f"https://{HOST}/o/lantern?x=1")
