"""The mutants themselves: each changes what a program does, once it is chosen, and nothing before."""

import os
import subprocess

import pytest

import mutants
import mutations
from tiffin import CHECKOUT

SOURCE = '''\
// A comment with a < b, and a call() too.
struct Tally {
    var total = 1
    static let limit = 10

    mutating func add(_ number: Int) {
        log.append("add < \\(number) + 1")
        total += number
    }

    func isFull() -> Bool { total >= Tally.limit }
}

nonisolated(unsafe) var log: [String] = []

func isEven(_ number: Int) -> Bool {
    if number % 2 == 0 {
        return true
    }
    return false
}

func chosen(_ numbers: [Int]) -> [Int] {
    var found: [Int] = []
    for index in 0..<numbers.count {
        let isLarge = numbers[index] > 3 && numbers[index] < 9
        if isEven(index) {
            found.append(numbers[index] * 2 + index)
        }
        if isLarge || index == 0 { found.append(-index) }
    }
    return found
}
'''
MAIN = '''\
var tally = Tally()
for number in [3, 4, 2] { tally.add(number) }
print(tally.total, tally.isFull(), Tally.limit, log, chosen([2, 3, 8, 9, 4, 7]), [4, 5].map(isEven))
'''


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program with all mutants in it, and these."""
    folder = tmp_path_factory.mktemp("mutants")
    found = mutants.apart(mutants.found_in("Example", "Example.swift", SOURCE))
    for number, mutant in enumerate(found):
        mutant.number = number
    (folder / "Example.swift").write_text(mutants.with_mutants(SOURCE, found))
    (folder / "Mutants.swift").write_text(mutants.declarations(found, len(found)))
    (folder / "main.swift").write_text(MAIN)
    subprocess.run(["swiftc", "-o", folder / "example", *folder.glob("*.swift")], check=True)
    return folder, found


def printed(program, **environment):
    run = subprocess.run([program[0] / "example"], capture_output=True, text=True, env={**os.environ, **environment})
    return run.stdout if run.returncode == 0 else "trapped"


def test_a_program_is_as_before_until_a_mutant_is_chosen(program, tmp_path):
    (tmp_path / "main.swift").write_text(SOURCE + MAIN)
    subprocess.run(["swiftc", "-o", tmp_path / "example", tmp_path / "main.swift"], check=True)
    assert printed(program) == printed((tmp_path, [])) != ""


def test_each_mutant_changes_what_is_printed(program):
    same = [str(each) for each in program[1] if printed(program, CHOSEN_MUTANT=str(each.number)) == printed(program)]
    assert not same
    kinds = {each.was for each in program[1]} | {each.becomes for each in program[1]}
    assert kinds >= {
        "==", "+", "*", ">", "<", "&&", "||", "+=", ">=", "..<", "its contrary", "one more", "true", "false", "nothing"}


def test_what_is_reached_is_marked(program, tmp_path):
    marks = tmp_path / "reached"
    printed(program, REACHED_MUTANTS=str(marks))
    assert marks.read_bytes() == b"\1" * len(program[1])


@pytest.mark.parametrize("source", [
    "// a < b", "/* return\ntrue */", 'let c = "d < e + f"', 'let c = #"d " < "#', 'let c = """\n    a + b\n    """',
    'let c = "\\" d + e"',
])
def test_comments_and_texts_stay(source):
    assert not mutants.found_in("Example", "Example.swift", source)
    assert len(mutants.masked(source)) == len(source)


def test_a_copy_has_every_file_and_link_of_the_checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(mutations, "COPY", tmp_path)
    monkeypatch.setattr(mutations, "MODULES", {})
    mutations.copy([])
    names = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=True).stdout.decode()
    files = [name for name in names.split("\0") if name and os.path.lexists(CHECKOUT / name)]
    assert files
    for name in files:
        copied = tmp_path / name
        assert copied.exists() and copied.is_symlink() == (CHECKOUT / name).is_symlink(), name
