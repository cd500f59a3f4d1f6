"""Every session that README and docs show is run, in order, on a fresh log, and prints what they say."""

import pytest

import clients
from sessions import Comparison, differences, sessions
from tiffin import CHECKOUT

DOCUMENTS = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]


@pytest.mark.parametrize(
    "document", [path for path in DOCUMENTS if sessions(path)], ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_what_a_document_shows_is_what_is_printed(document):
    if document.name == "start.md":
        clients.build_swift()
    typed, found = differences(document)
    assert not found, f"{len(found)} of {typed}\n" + "\n".join(
        f"--- {document.name}:{line} says\n{expected}\n--- is printed\n{printed}" for line, expected, printed in found)


A, B = "2c0fd56dddc6df3f3468b4ad04dd", "95f2372ec3c153bf3a75aadc0im4"


@pytest.mark.parametrize("says, printed", [
    ("(integer) 2", "(integer) 3"), ("(integer) 2", ""), ("", "(integer) 2"), ("2", "2\n3"), ("2\n3", "2"),
    ("a … c", "a b d"), ("a\n…\nc", "a\nb"), ("the total is 1.50", "the total is 1x50"),
    ("2026-03-01T12:00:00Z", "soon"), (f"{A} {A}", f"{A} {B}"), ("6 events in 0.2 s", "7 events in 0.3 s"),
])
def test_what_differs_is_found(says, printed):
    assert not Comparison({"7379": "50100"}).matches(says.split("\n"), printed)


@pytest.mark.parametrize("says, printed", [
    ("a … c", "a b c"), ("a\n…\nc", "a\nb\nb\nc"), ("a\n…", "a"), (f"{A} {A}", f"{B} {B}"),
    ("6 events in 0.2 s", "6 events in 31 ms"), ("127.0.0.1:7379", "127.0.0.1:50100"), ("p50 2 ms   p99", "p50 2.24 ms  p99"),
])
def test_what_varies_is_passed_over(says, printed):
    assert Comparison({"7379": "50100"}).matches(says.split("\n"), printed)


def test_a_name_is_typed_as_it_was_printed_and_a_time_moves_along():
    comparison = Comparison({"7379": "50100"})
    assert comparison.matches([f"{A} 2026-03-01T12:00:00Z"], f"{B} 2030-01-01T00:00:00Z")
    assert comparison.typed(f"-p 7379 {A} {A[:-1]}") == f"-p 50100 {B} {A[:-1]}"
    assert comparison.typed("2026-03-01T12:00:00Z 2026-03-01T12:10:00Z") == "2030-01-01T00:00:00Z 2030-01-01T00:10:00.000Z"
