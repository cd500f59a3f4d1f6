"""A highly available PostgreSQL: nodes that Patroni runs, and an etcd by which they agree on who is the primary.

All of it is on this machine, in a temporary folder, and ends with the `with`. As root, the programs run under
PostgreSQL's account, and each node can have a network of its own. Standard library only.
"""

import contextlib
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from networks import Networks
from tiffin import CHECKOUT, sql, wait_until
from trials import send_signal

# A primary that vanishes is replaced once its key in etcd is as old. Patroni asks for at least as much.
TTL_SECONDS = 20
# What the machine may add to that until there is another primary; it has other work to do.
ELECTED_SECONDS = TTL_SECONDS + 40
# Until a new or returning node has all data.
JOINED_SECONDS = 120
# Each look costs Patroni some work.
LOOK_SECONDS = 0.1
SETTINGS = CHECKOUT / "Packaging" / "fleet" / "patroni.yml"
PARAMETERS = {
    "fsync": "off", "unix_socket_directories": "",
    # What it shares then lies in its folder, and a node that is killed leaves nothing in memory.
    "dynamic_shared_memory_type": "mmap",
}


PASSWORD = "tiffin"


def account():
    """Whom the programs run as."""
    return {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}


def become_account():
    """The same, in a new process."""
    user = pwd.getpwnam("postgres")
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def program(name):
    """Where a program is, in what Scripts/setup has made or in the path; None if it is nowhere."""
    return shutil.which(name, path=f"{CHECKOUT}/.build/patroni/bin{os.pathsep}{os.environ['PATH']}")


def is_installed():
    """Whether there is an etcd, and a Patroni whose primaries give way to their successors."""
    if not program("etcd") or not program("patroni"):
        return False
    try:
        version = subprocess.check_output([program("patroni"), "--version"], text=True, cwd="/", **account())
    except (OSError, subprocess.CalledProcessError):
        return False
    return int(version.split()[1].split(".")[0]) >= 4


def free_ports(count):
    """Ports of loopback on which nobody listens."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Process:
    """A program that can be started again. Its output is in a file of the folder."""

    def __init__(self, name, command, folder, environment=None, network=None):
        self.name, self.command, self.folder, self.network = name, command, folder, network
        self.environment = {**os.environ, **(environment or {})}
        self.process = None

    def start(self):
        whose = {"preexec_fn": self._enter} if self.network else account()
        with open(f"{self.folder}/{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                **whose)

    def _enter(self):
        self.network.enter()
        become_account()

    def pids(self):
        return [self.process.pid] if self.process and self.process.poll() is None else []

    def kill(self):
        send_signal(signal.SIGKILL, *self.pids())
        if self.process:
            self.process.wait(timeout=20)

    def freeze(self):
        send_signal(signal.SIGSTOP, *self.pids())

    def thaw(self):
        send_signal(signal.SIGCONT, *self.pids())


class Node(Process):
    """A machine, so to say: a PostgreSQL with its Patroni, which are lost together."""

    def __init__(self, number, folder, etcd, settings, parameters, network=None):
        name = f"node{number}"
        self.host = network.address if network else "127.0.0.1"
        self.port, self.api_port = free_ports(2)
        self.data = f"{folder}/{name}"
        # Files of a folder are read one after the other, and the later ones count.
        os.mkdir(f"{folder}/{name}.conf")
        shutil.copy(SETTINGS, f"{folder}/{name}.conf/1.yml")
        # Patroni reads YAML, and so JSON.
        Path(f"{folder}/{name}.conf/2.yml").write_text(json.dumps(
            {"bootstrap": {"dcs": {**settings, "postgresql": {"parameters": parameters}}}}))
        environment = {
            "NAME": name, "ETCD3_HOSTS": etcd, "SUPERUSER_USERNAME": "postgres", "SUPERUSER_PASSWORD": PASSWORD,
            "REPLICATION_USERNAME": "replicator", "REPLICATION_PASSWORD": PASSWORD,
            "RESTAPI_LISTEN": f"{self.host}:{self.api_port}", "RESTAPI_CONNECT_ADDRESS": f"{self.host}:{self.api_port}",
            "POSTGRESQL_LISTEN": f"{self.host}:{self.port}", "POSTGRESQL_CONNECT_ADDRESS": f"{self.host}:{self.port}",
            "POSTGRESQL_DATA_DIR": self.data, "POSTGRESQL_PGPASS": f"{self.data}.pgpass",
            "POSTGRESQL_BIN_DIR": subprocess.check_output([CHECKOUT / "Scripts" / "postgres-programs"], text=True).strip(),
        }
        super().__init__(
            name, [program("patroni"), f"{folder}/{name}.conf"], folder,
            {f"PATRONI_{key}": value for key, value in environment.items()}, network)

    @property
    def url(self):
        return f"postgres://postgres:{PASSWORD}@{self.host}:{self.port}/postgres"

    def postgres(self):
        """The processes of PostgreSQL, its postmaster first; none while it is away."""
        try:
            parent = int(Path(f"{self.data}/postmaster.pid").read_text().split("\n", 1)[0])
            # The file of one that was killed may name any process.
            if b"postgres" not in Path(f"/proc/{parent}/cmdline").read_bytes():
                return []
        except (OSError, ValueError):
            return []
        children = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True).stdout.split()
        return [parent, *map(int, children)]

    def pids(self):
        # Patroni first: what it sees nothing of, it cannot mend.
        return super().pids() + self.postgres()

    def kill(self):
        """All of it ends at once, as when a machine loses its power."""
        # Whoever stands still writes nothing while the others are killed.
        self.freeze()
        super().kill()
        wait_until(lambda: not self.postgres(), f"the end of {self.name}")

    def ask(self, path, body=None, seconds=2):
        """What Patroni answers: its status, and its text. None if it answers nothing."""
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(f"http://{self.host}:{self.api_port}{path}", data, timeout=seconds) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return None


class Patroni:
    """The nodes with their etcd. `url` is what servers connect to: whichever is the primary."""

    def __init__(self, nodes=2, settings=None, parameters=None):
        self.is_synchronous = (settings or {}).get("synchronous_mode", True)
        self.folder = tempfile.mkdtemp(prefix="tiffin-patroni.")
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.networks = Networks() if Networks.are_possible() else None
        networks = [self.networks and self.networks.add() for _ in range(nodes)]
        host = self.networks.host if self.networks else "127.0.0.1"
        client, peer = (f"http://{host}:{port}" for port in free_ports(2))
        self.etcd = Process("etcd", [
            program("etcd"), "--data-dir", f"{self.folder}/etcd", "--listen-client-urls", client,
            "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"default={peer}", "--unsafe-no-fsync"], self.folder)
        self.nodes = [
            Node(number, self.folder, client.removeprefix("http://"), settings or {}, {**PARAMETERS, **(parameters or {})},
                 network)
            for number, network in enumerate(networks, 1)]
        hosts = ",".join(f"{node.host}:{node.port}" for node in self.nodes)
        self.url = f"postgres://postgres:{PASSWORD}@{hosts}/postgres?target_session_attrs=read-write"

    def __enter__(self):
        try:
            self.etcd.start()
            # The first one begins the database, and the others copy it.
            for node in self.nodes:
                node.start()
            self.wait_until_whole()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for node in self.nodes:
            with contextlib.suppress(TimeoutError, subprocess.TimeoutExpired):
                # Patroni first, which would start PostgreSQL again.
                Process.kill(node)
                send_signal(signal.SIGCONT, *node.postgres())
                # At once, but with what it shares in memory given back.
                send_signal(signal.SIGQUIT, *node.postgres()[:1])
                wait_until(lambda: not node.postgres(), f"the end of {node.name}")
        self.etcd.kill()
        if self.networks:
            self.networks.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self, lines=40):
        """The last words of each node's Patroni and PostgreSQL."""
        texts = []
        for node in self.nodes:
            words = Path(f"{self.folder}/{node.name}.log").read_text(errors="replace").splitlines()
            texts.append(f"--- {node.name}\n" + "\n".join(words[-lines:]))
        return "\n".join(texts)

    # --- who is what

    def primary(self):
        """The node that has the leader's key and whose PostgreSQL takes writes; None while there is none."""
        return next((node for node in self.nodes if (answer := node.ask("/primary")) and answer[0] == 200), None)

    def synchronous_standby(self):
        """A node that has everything that was acknowledged; None while there is none."""
        return next((node for node in self.nodes if (answer := node.ask("/sync")) and answer[0] == 200), None)

    def is_whole(self):
        """There is a primary, all others follow it, and what it acknowledges is on one of them at least."""
        primary = self.primary()
        if not primary:
            return False
        try:
            states = sql("select sync_state from pg_stat_replication where state = 'streaming' "
                         "and application_name like 'node%'", primary.url).split()
        except RuntimeError:
            return False
        if len(states) != len(self.nodes) - 1:
            return False
        return not self.is_synchronous or (states.count("sync") == 1 and bool(self.synchronous_standby()))

    def wait_until_whole(self):
        try:
            wait_until(self.is_whole, "all nodes", seconds=JOINED_SECONDS, every=LOOK_SECONDS)
        except TimeoutError as error:
            error.add_note(self.log())
            raise

    def wait_for_another(self, former):
        """Until a node other than this one is the primary, which is returned."""
        def successor():
            node = self.primary()
            return node if node is not former else None

        return wait_until(successor, f"another primary than {former.name}", seconds=ELECTED_SECONDS, every=LOOK_SECONDS)

    # --- what is done to it

    def switchover(self):
        """The synchronous standby, or some standby, becomes the primary, as an operator asks for it."""
        primary = self.primary()
        body = {"leader": primary.name}
        if candidate := self.synchronous_standby():
            body["candidate"] = candidate.name
        answer = primary.ask("/switchover", body, ELECTED_SECONDS)
        if not answer or answer[0] != 200:
            raise RuntimeError(f"no switchover: {answer}")
        return primary

    def kill_primary(self):
        """The machine of the primary is lost. `start()` of the node, which is returned, brings it back."""
        primary = self.primary()
        primary.kill()
        return primary
