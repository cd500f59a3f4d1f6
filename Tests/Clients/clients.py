"""Where the clients are, and how they are built."""

import shutil
import subprocess
import sys

import pytest

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


def build_typescript(folder):
    """Compiles the client with its examples into a folder."""
    if not (shutil.which("tsc") and shutil.which("node")):
        pytest.skip("there is no tsc or no node")
    compiled = subprocess.run(
        ["tsc", "-p", CLIENTS / "typescript", "--outDir", folder], capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert compiled.returncode == 0, compiled.stdout
    shutil.copy(CLIENTS / "typescript" / "package.json", folder)
    return folder


def day_program(language, folder):
    """How the example of a day is started in one of the languages, once it is built."""
    match language:
        case "python":
            return [sys.executable, str(CLIENTS / "python" / "examples" / "day.py")]
        case "typescript":
            return ["node", str(build_typescript(folder) / "examples" / "day.js")]
        case "swift":
            return [str(build_swift() / "day")]
