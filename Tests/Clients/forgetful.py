"""A disk that loses its power: what was not synced by then is gone, or is there in part (forgetful.c)."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass

from tiffin import CHECKOUT, wait_until

SOURCE = CHECKOUT / "Tests" / "Clients" / "forgetful.c"


@dataclass
class Loss:
    """What was not synced when the power went."""

    pages: int
    torn: int
    names: int


class ForgetfulDisk:
    """A file system in memory, whose switch is an attribute of its folder."""

    def __init__(self, path):
        self.path = path

    @staticmethod
    def reason_without():
        """Why there can be none here; None if there can."""
        if os.geteuid() != 0 or not os.access("/dev/fuse", os.W_OK):
            return "only root can mount a file system, and needs /dev/fuse for this one"
        if not shutil.which("cc") or subprocess.run(["pkg-config", "--exists", "fuse3"]).returncode:
            return "a C compiler and libfuse3 are needed for this disk"
        return None

    @staticmethod
    @contextlib.contextmanager
    def mounted():
        path = tempfile.mkdtemp(prefix="tiffin-forgetful.", dir="/tmp")
        process = subprocess.Popen([_program(), path], stdin=subprocess.DEVNULL)
        try:
            wait_until(lambda: os.path.ismount(path) or process.poll() is not None, "the disk")
            assert process.poll() is None, "the disk could not be mounted"
            yield ForgetfulDisk(path)
        finally:
            # It unmounts what it has mounted.
            process.send_signal(signal.SIGTERM)
            process.wait(20)
            os.rmdir(path)

    def lose_power(self, keep="nothing", seed=0, after=0):
        """At once, or at so many changes from now on. It keeps `nothing` that was not synced, or `some`."""
        os.setxattr(self.path, "user.power", f"off {keep} {seed} {after}".encode())

    def restore_power(self):
        """What was lost is lost."""
        os.setxattr(self.path, "user.power", b"on")

    def _state(self):
        return os.getxattr(self.path, "user.power").decode().split()

    def has_power(self):
        return self._state()[0] == "on"

    def changes(self):
        """How many calls have changed or synced something until now."""
        return int(self._state()[1])

    def loss(self):
        return Loss(*map(int, self._state()[2:]))


def _program():
    """The compiled file system."""
    program = CHECKOUT / ".build" / "forgetful"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], capture_output=True, text=True, check=True)
        # Several tests may need it at once.
        made = f"{program}.{os.getpid()}"
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", made, str(SOURCE), *shlex.split(flags.stdout)],
                       check=True)
        os.replace(made, program)
    return program
