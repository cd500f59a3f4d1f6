"""What the Python programs of a folder import, and what that imports, is what a requirements.txt installs."""

import ast
import re
import sys

import pytest

from tiffin import CHECKOUT

OURS = {path.parent.name if path.stem == "__init__" else path.stem: path
        for folder in ("Benchmarks", "Clients", "Tests") for path in (CHECKOUT / folder).rglob("*.py")}
PACKAGES = {"PIL": "pillow"}


def imports(path) -> set:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names)


def needed(programs) -> set:
    """The packages that programs import, and those that our own modules import for them."""
    found, left = set(), list(programs)
    while left:
        for name in imports(left.pop()) - found:
            found.add(name)
            left += [OURS[name]] if name in OURS else []
    return {PACKAGES.get(name, name) for name in found - OURS.keys()}


@pytest.mark.parametrize("requirements, programs", [
    ("Benchmarks", ["Benchmarks/run", "Benchmarks/*.py"]), ("Tests/Clients", ["Tests/Clients/*.py", "Tests/Browser/*.py"])])
def test_what_is_imported_is_installed(requirements, programs):
    packages = needed(path for pattern in programs for path in CHECKOUT.glob(pattern))
    lines = (CHECKOUT / requirements / "requirements.txt").read_text().splitlines()
    installed = {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in lines}
    assert packages and not packages - installed
