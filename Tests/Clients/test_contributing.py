"""The worked changes in CONTRIBUTING.md can be made as they are written."""

import re
import subprocess

from tiffin import CHECKOUT


def test_the_worked_changes_apply_together():
    guide = (CHECKOUT / "CONTRIBUTING.md").read_text()
    changes = re.findall(r"^```diff\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    assert changes
    check = subprocess.run(["git", "apply", "--check"], input="".join(changes), text=True, capture_output=True, cwd=CHECKOUT)
    assert check.returncode == 0, check.stderr
