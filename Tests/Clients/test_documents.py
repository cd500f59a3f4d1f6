"""Every session that README and docs show is run, in order, on a fresh log, and prints what they say."""

import pytest

from sessions import differences, sessions
from tiffin import CHECKOUT

DOCUMENTS = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
# Not yet.
DOCUMENTS = [path for path in DOCUMENTS if path.name not in {"audit.md", "commands.md"}]


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if sessions(path)], ids=lambda path: path.name)
def test_what_a_document_shows_is_what_is_printed(document):
    typed, found = differences(document)
    assert not found, f"{len(found)} of {typed}\n" + "\n".join(
        f"--- {document.name}:{line} says\n{expected}\n--- is printed\n{printed}" for line, expected, printed in found)
