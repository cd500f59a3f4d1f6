"""The monkey with hands, for some steps of two seeds; `make monkey-browser` plays longer ones."""

import pytest
from browser_monkey import run


@pytest.mark.parametrize("seed", [3, 7])
def test_everything_agrees_after_a_monkey(browser, seed):
    monkey, found = run(browser, seed, 40)
    assert not found, f"again: make monkey-browser SEED={seed} STEPS=40\n" + "\n".join(found)
    assert monkey.taps > 0 and monkey.edits > 0
