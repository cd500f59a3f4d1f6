"""A clone that was moved or renamed can be built again."""

import pathlib
import shutil
import subprocess

import pytest
from tiffin import PATIENCE_SECONDS

SCRIPT = pathlib.Path(__file__).parents[2] / "Scripts" / "moved-clone"
CACHES = ("x86_64-unknown-linux-gnu/debug/ModuleCache", "arm64-apple-macosx/release/ModuleCache", "fuzz/ModuleCache")


@pytest.fixture
def clone(tmp_path):
    """As much of a clone as the script looks at, in a folder with a blank in its name."""
    clone = tmp_path / "my clone"
    (clone / "Scripts").mkdir(parents=True)
    shutil.copy(SCRIPT, clone / "Scripts")
    for cache in CACHES:
        (clone / ".build" / cache / "A1").mkdir(parents=True)
        (clone / ".build" / cache / "A1" / "SwiftShims.pcm").touch()
        (clone / ".build" / cache).with_name("tiffin").touch()
    return clone


def check(clone) -> str:
    run = subprocess.run([clone / "Scripts" / "moved-clone"], capture_output=True, text=True, cwd="/", timeout=PATIENCE_SECONDS)
    assert (run.returncode, run.stdout) == (0, "")
    return run.stderr


def caches(clone) -> list:
    return [(clone / ".build" / cache).exists() for cache in CACHES]


@pytest.mark.parametrize("is_marked", [True, False])
def test_the_cache_of_modules_is_cleared_once_after_a_move(clone, is_marked):
    if is_marked:
        assert check(clone) == check(clone) == ""
    else:
        # Built before there was a mark.
        object_file = str(clone / ".build" / "debug" / "x.build" / "x.swift.o").replace(" ", "\\ ")
        (clone / ".build" / "x.d").write_text(f"{object_file} : /usr/include/x.h\n")
    assert all(caches(clone))
    moved = clone.rename(clone.with_name("renamed"))
    assert check(moved) == f"setup: this clone was built in {clone} and is in {moved} now: clearing the cache of modules\n"
    assert not any(caches(moved))
    assert all((moved / ".build" / cache).with_name("tiffin").exists() for cache in CACHES), "the rest is kept"
    assert check(moved) == ""


def test_a_clone_that_was_never_built_is_left_alone(clone):
    shutil.rmtree(clone / ".build")
    assert check(clone) == ""
    assert not (clone / ".build").exists()
