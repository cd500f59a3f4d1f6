"""The Debian package, and what an operator is told: alarms, and what to do about each."""

import re
import shutil
import subprocess

import pytest

from tiffin import CHECKOUT, PATIENCE_SECONDS, binary, run_tiffin

ALERTS = CHECKOUT / "Packaging" / "alerts.yml"
GUIDE = CHECKOUT / "docs" / "operate.md"


def unpacked(folder):
    """The package of the program under test, and a folder with what is in it."""
    if not shutil.which("dpkg-deb"):
        pytest.skip("dpkg-deb is of Debian")
    built = subprocess.run([CHECKOUT / "Scripts" / "package", folder], capture_output=True, text=True, timeout=300,
                           env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "TIFFIN_BINARY": binary()})
    assert built.returncode == 0, built.stderr
    [path] = folder.glob("tiffin_*.deb")
    subprocess.run(["dpkg-deb", "--extract", path, folder / "root"], check=True)
    return path, folder / "root"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return unpacked(tmp_path_factory.mktemp("package"))


def test_the_package_has_the_program_with_what_it_needs(package):
    path, root = package
    said = subprocess.run([root / "usr/bin/tiffin", "version"], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    version = said.stdout.split()[1]
    field = lambda name: subprocess.check_output(["dpkg-deb", "--field", path, name], text=True).strip()
    assert field("Version") == version
    depends = field("Depends").split(", ")
    assert {"libpq5", "tzdata"} <= set(depends)
    # Whoever installs it gets every library.
    assert all(subprocess.run(["dpkg-query", "--show", name], capture_output=True).returncode == 0 for name in depends)
    unit = (root / "usr/lib/systemd/system/tiffin.service").read_text()
    assert "\nExecStart=/usr/bin/tiffin serve\n" in unit
    for script in ("postinst", "prerm", "postrm"):
        text = subprocess.check_output(["dpkg-deb", "--info", path, script], text=True)
        assert subprocess.run(["sh", "-n"], input=text, text=True).returncode == 0


def test_the_man_page_and_the_completions_know_every_command(package):
    _, root = package
    commands = re.findall(r"^  ([a-z]+)  ", run_tiffin("--help").stdout, re.MULTILINE)
    page = subprocess.check_output(["gzip", "-dc", root / "usr/share/man/man1/tiffin.1.gz"], text=True)
    assert re.findall(r"^\.SS (.*)$", page, re.MULTILINE) == [name for name in commands if name not in ("version", "help")]

    def completed(*words):
        script = (f". {root}/usr/share/bash-completion/completions/tiffin; COMP_WORDS=({' '.join(words)}); "
                  f"COMP_CWORD={len(words) - 1}; _tiffin; echo ${{COMPREPLY[@]}}")
        return subprocess.check_output(["bash", "-c", script], text=True, cwd=root).split()

    assert set(completed("tiffin", '""')) == set(commands)
    assert completed("tiffin", "wit") == ["witness"]
    assert completed("tiffin", "witness", "--li") == ["--listen"]
    assert completed("tiffin", "backup", "us") == ["usr"]


def test_every_alarm_is_one_for_prometheus_and_is_explained():
    rules = ALERTS.read_text()
    if promtool := shutil.which("promtool"):
        check = subprocess.run([promtool, "check", "rules", ALERTS], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert check.returncode == 0, check.stdout + check.stderr
    alarms = re.findall(r"- alert: (\w+)", rules)
    assert alarms == re.findall(r"^\| `(Tiffin\w+)` \|", GUIDE.read_text(), re.MULTILINE)
