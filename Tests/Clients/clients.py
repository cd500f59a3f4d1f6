"""Where the clients are, and the build of the one in Swift."""

import subprocess

from tiffin import CHECKOUT

CLIENTS = CHECKOUT / "Clients"
# Apart from the server's own build, and where the next run finds it.
SWIFT_SCRATCH = CHECKOUT / ".build" / "clients"
SWIFT_PROGRAMS = SWIFT_SCRATCH / "debug"
BUILD_SECONDS = 300


def build_swift():
    """Builds the client with its examples, and returns the folder with these. A second one waits for the first."""
    built = subprocess.run(
        ["swift", "build", "--package-path", CLIENTS / "swift", "--scratch-path", SWIFT_SCRATCH, "--quiet"],
        capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert built.returncode == 0, built.stdout + built.stderr
    return SWIFT_PROGRAMS
