"""Networks of this machine's own: namespaces of Linux, each joined to the machine by a cable that can be pulled.

Their addresses are those for benchmarks (RFC 2544), and exist on this machine only. Needs root. Standard library only.
"""

import contextlib
import ctypes
import os
import shutil
import subprocess

CLONE_NEWNET = 0x40000000


def ip(*arguments):
    subprocess.run(["ip", *map(str, arguments)], check=True, capture_output=True, text=True)


class Network:
    """Where one machine would be. Processes that enter have its address, and see what the cable brings."""

    def __init__(self, name, bridge, address):
        self.name, self.cable, self.address = name, f"{name}c", address
        ip("netns", "add", name)
        ip("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", self.cable, "master", bridge, "up")
        ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", name, "link", "set", "lo", "up")
        self.libc = ctypes.CDLL(None, use_errno=True)

    def enter(self):
        """This process, a new one, is in it from now on."""
        with open(f"/run/netns/{self.name}") as namespace:
            if self.libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")

    @contextlib.contextmanager
    def vanished(self):
        """Its cable is pulled: nobody hears of it, nor it of anybody, and no connection ends."""
        ip("link", "set", self.cable, "down")
        try:
            yield
        finally:
            ip("link", "set", self.cable, "up")


class Networks:
    """Several, with a bridge between them on which this machine is, too, as `host`."""

    @staticmethod
    def are_possible():
        if os.geteuid() != 0 or not shutil.which("ip"):
            return False
        # A container may be root's and yet have no say in this.
        name = f"tiffin{os.getpid()}x"
        possible = subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode == 0
        if possible:
            ip("netns", "del", name)
        return possible

    def __init__(self):
        # Trials that run at once keep out of each other's way by their process.
        self.mark, self.subnet = f"tf{os.getpid()}", f"198.18.{os.getpid() % 250}"
        self.bridge, self.host, self.all = f"{self.mark}b", f"{self.subnet}.1", []
        ip("link", "add", self.bridge, "type", "bridge")
        try:
            ip("address", "add", f"{self.host}/24", "dev", self.bridge)
            ip("link", "set", self.bridge, "up")
        except subprocess.CalledProcessError:
            self.close()
            raise

    def add(self):
        """Another one."""
        number = len(self.all)
        self.all.append(Network(f"{self.mark}n{number}", self.bridge, f"{self.subnet}.{number + 2}"))
        return self.all[-1]

    def close(self):
        # The cables go with them.
        for network in self.all:
            ip("netns", "del", network.name)
        ip("link", "del", self.bridge)
