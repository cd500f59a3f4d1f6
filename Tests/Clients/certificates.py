"""Certificates for tests and benchmarks, made by the `openssl` tool when they are needed."""

import ssl
import subprocess
from pathlib import Path
from tiffin import PATIENCE_SECONDS

NAMES = "DNS:localhost,IP:127.0.0.1"


class Certificates:
    """An authority and what it signed, as PEM files in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self._make_authority("ca")

    def file(self, name) -> str:
        return str(self.folder / f"{name}.pem")

    def key(self, name) -> str:
        return str(self.folder / f"{name}.key")

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True, timeout=PATIENCE_SECONDS)

    def _make_authority(self, name):
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                      "-subj", f"/CN=Authority {name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")

    def sign(self, name, *, names=NAMES, days=2, authority="ca", rsa=False) -> "Certificates":
        """Makes a key and a certificate for it."""
        if not (self.folder / f"{authority}.pem").exists():
            self._make_authority(authority)
        kind = ("rsa:2048",) if rsa else ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")
        self._openssl("req", "-new", "-newkey", *kind, "-nodes", "-subj", f"/CN={name}",
                      "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={names}\n")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
                      "-CAcreateserial", "-days", str(days), "-extfile", f"{name}.ext", "-out", f"{name}.pem")
        return self

    def options(self, name, **more) -> list:
        """The options of a server that shows that certificate."""
        return ["--tls-cert", self.file(name), "--tls-key", self.key(name),
                *(word for option, value in more.items() for word in (f"--{option.replace('_', '-')}", value))]

    def context(self, name=None) -> ssl.SSLContext:
        """A client's context: it trusts the authority, and shows that certificate if it has one."""
        context = ssl.create_default_context(cafile=self.file("ca"))
        if name:
            context.load_cert_chain(self.file(name), self.key(name))
        return context
