"""A web server on this machine that answers as a feed may: well, badly, slowly, too much or not to the end."""

import gzip
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Feed:
    """Serves `body` under `/feed`, with what the test says about it, and remembers what it was asked."""

    def __init__(self, certificate=None, key=None):
        self.body, self.etag, self.modified = b"", None, None
        self.requests = []  # (path, headers)
        self.sent = 0  # bytes of bodies
        self.stopping = threading.Event()
        feed = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                feed.requests.append((self.path, dict(self.headers)))
                path = self.path.partition("?")[0]
                getattr(feed, path.strip("/").partition("/")[0], feed.missing)(self)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        # A client that does not trust us leaves in the middle of the handshake.
        self.server.handle_error = lambda *_: None
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()

    def url(self, path="feed") -> str:
        return f"{self.scheme}://127.0.0.1:{self.server.server_port}/{path}"

    def answer(self, request, status, body=b"", **headers):
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
        self.sent += len(body)

    def feed(self, request):
        headers = {"ETag": self.etag, "Last_Modified": self.modified}
        headers = {name: value for name, value in headers.items() if value}
        asked = request.headers
        if (self.etag and asked.get("If-None-Match") == self.etag) or (
                not self.etag and self.modified and asked.get("If-Modified-Since") == self.modified):
            return self.answer(request, 304, **headers)
        self.answer(request, 200, self.body, **headers)

    def packed(self, request):
        self.answer(request, 200, gzip.compress(self.body), Content_Encoding="gzip")

    def short(self, request):
        """Gzip without its last bytes, as many as the query says."""
        packed = gzip.compress(self.body)
        self.answer(request, 200, packed[:-int(request.path.partition("?")[2])], Content_Encoding="gzip")

    def damaged(self, request):
        packed = bytearray(gzip.compress(self.body))
        packed[-6] ^= 1  # of its checksum
        self.answer(request, 200, bytes(packed), Content_Encoding="gzip")

    def brotli(self, request):
        self.answer(request, 200, self.body, Content_Encoding="br")

    def otherwise(self, request):
        """Answers by another protocol than HTTP."""
        request.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")

    def turned(self, request):
        """Leads to such an answer."""
        self.answer(request, 302, Location="/otherwise")

    def header(self, request):
        self.answer(request, 200, self.body, X_Long="a" * (2 << 20))

    def headers(self, request):
        self.answer(request, 200, self.body, **{f"X_{number}": "a" * 1_000 for number in range(1_000)})

    def missing(self, request):
        self.answer(request, 404, b'{"recipes":[]}')

    def broken(self, request):
        self.answer(request, 500, b'{"recipes":[]}')

    def moved(self, request):
        self.answer(request, 302, Location="/feed")

    def circle(self, request):
        self.answer(request, 302, Location="/circle")

    def astray(self, request):
        self.answer(request, 302, Location="file:///etc/hostname")

    def unasked(self, request):
        self.answer(request, 304)

    def stall(self, request):
        """Begins an answer, and says nothing more."""
        request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        self.stopping.wait(20)

    def endless(self, request):
        """An answer without end, from which the client has to turn away."""
        request.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while not self.stopping.is_set():
                request.wfile.write(b" " * 65_536)
        except OSError:
            pass

    def bomb(self, request):
        """Little on the way, and much once it is unpacked."""
        self.answer(request, 200, gzip.compress(b" " * (8 << 20)), Content_Encoding="gzip")

    def cut(self, request):
        request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + self.body[:50])
        request.wfile.flush()
        request.connection.shutdown(socket.SHUT_RDWR)
