"""What systemd is told, and what its unit file says."""

import configparser
import json
import re
import socket
import subprocess
import sys
import tempfile

import pytest

from tiffin import CHECKOUT, PATIENCE_SECONDS, Server, run_tiffin

UNIT = CHECKOUT / "Packaging" / "tiffin.service"


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is of Linux")
@pytest.mark.parametrize("kind", ["file", "abstract"])
def test_the_service_manager_learns_that_the_server_is_ready_and_that_it_stops(database, name, tmp_path, kind):
    # pytest's own folders have names too long for a socket.
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        path = f"{folder}/notify" if kind == "file" else f"@tiffin-{name}-{tmp_path.name}"
        manager.bind(path.replace("@", "\0"))
        manager.settimeout(60)
        with Server(database=database, environment={"NOTIFY_SOCKET": path}) as server:
            assert manager.recv(100) == b"READY=1"
            with server.client() as client:
                assert client("PING") == "PONG"
        assert manager.recv(100) == b"STOPPING=1"


def test_a_service_manager_that_is_gone_does_not_matter(database, tmp_path):
    for path in (tmp_path / "nobody", "x" * 200, "@"):
        with Server(database=database, environment={"NOTIFY_SOCKET": str(path)}) as server, server.client() as client:
            assert client("PING") == "PONG"


def test_the_unit_file_starts_the_server_as_it_wants_to_be_started():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(UNIT)
    service = unit["Service"]
    assert service["Type"] == "notify"
    command = service["ExecStart"].split()
    assert command == ["/usr/local/bin/tiffin", "serve"]
    variable, _, folder = service["Environment"].partition("=")
    assert f"[{variable}]" in run_tiffin("serve", "--help").stdout
    assert folder == f"/var/lib/{service['StateDirectory']}"
    for switch in ("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome"):
        assert service[switch] == "yes"
    assert service["ProtectSystem"] == "strict"


def test_the_container_is_published_on_loopback_and_knows_whether_it_is_healthy(database):
    compose = (CHECKOUT / "docker-compose.yml").read_text()
    ports = re.findall(r'^      - "([^"]+:\d+)"$', compose, re.MULTILINE)
    assert ports == [f"127.0.0.1:{port}:{port}" for port in (7379, 7380, 7381)]
    dockerfile = (CHECKOUT / "Dockerfile").read_text()
    assert "\nEXPOSE 7379 7380 7381\n" in dockerfile
    check = json.loads(re.search(r"^HEALTHCHECK .*\\\n    CMD (\[.*\])$", dockerfile, re.MULTILINE)[1])
    with Server(database=database, environment={"TIFFIN_WEB": "127.0.0.1:0"}) as server:
        here = [word.replace("127.0.0.1/7380", server.site("store").replace(":", "/")) for word in check]
        assert subprocess.run(here, timeout=PATIENCE_SECONDS).returncode == 0
        assert server.stop() == 0
        assert subprocess.run(here, timeout=PATIENCE_SECONDS, stderr=subprocess.DEVNULL).returncode == 1
