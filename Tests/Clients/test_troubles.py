"""Each of the `troubles` once."""

import shutil
import sys

import pytest

import troubles


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="the clock needs a C compiler, and Linux")
def test_nothing_is_lost_in_troubles():
    # The bound is generous: other tests use the machine at the same time.
    assert len(troubles.run(len(troubles.TROUBLES), seed=2026, within=30)) == len(troubles.TROUBLES)
