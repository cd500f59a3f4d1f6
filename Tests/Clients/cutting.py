"""A proxy that cuts every connection again and again, wherever it happens to be."""

import contextlib
import itertools
import socket
import threading
from urllib.parse import urlsplit


class Cutting:
    """Passes bytes on to an address, `127.0.0.1:50100`, and cuts all connections every so many seconds.

    Of every third connection the answers are lost as well: what it asks for is done, and nobody is told.
    """

    def __init__(self, address: str, seconds: float = 0.05):
        self._upstream = urlsplit(f"//{address}")
        self._seconds = seconds
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._numbers = itertools.count(1)
        self._lock, self._is_over = threading.Lock(), threading.Event()
        # How many connections were cut.
        self.cuts = 0

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        for body in (self._accept, self._cut_again_and_again):
            threading.Thread(target=body, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        # What waits in accept() is woken up by that.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._cut()

    def _accept(self):
        while not self._is_over.is_set():
            try:
                client = self._listener.accept()[0]
                server = socket.create_connection((self._upstream.hostname, self._upstream.port))
            except OSError:
                continue
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pair = (client, server)
            with self._lock:
                self._pairs.add(pair)
            loses = next(self._numbers) % 3 == 0
            threading.Thread(target=self._pass_on, args=(client, server, pair, False), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, client, pair, loses), daemon=True).start()

    def _pass_on(self, source, target, pair, loses):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if loses:
                    break
                target.sendall(data)
        self._end(pair)

    def _cut_again_and_again(self):
        while not self._is_over.wait(self._seconds):
            self._cut()

    def _cut(self):
        with self._lock:
            pairs = list(self._pairs)
        self.cuts += len(pairs)
        for pair in pairs:
            self._end(pair)

    def _end(self, pair):
        with self._lock:
            self._pairs.discard(pair)
        for one in pair:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
