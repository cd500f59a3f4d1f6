"""docs/reference/ says of every command what a server says of it, and has a section for each and for nothing else."""

import re

import pytest

import reference
from reference import FOLDER, INDEX
from tiffin import CHECKOUT


@pytest.fixture(scope="module")
def every(server):
    with server.client(protocol=3) as client:
        return reference.commands(client)


def test_every_command_is_asked_about(every, client):
    listed = {entry.decode().upper() for entry in client("COMMAND", "LIST")}
    assert {command.name.split(" ")[0] for command in every} == listed
    assert all(command.usage.split(" [")[0].split(" <")[0] == command.name for command in every)


def test_the_generated_parts_are_what_the_server_says(every):
    for page, texts in reference.generated(every).items():
        stands = {name: text for name, (_, text) in reference.parts(page).items()}
        for name, text in texts.items():
            assert stands.get(name) == text, f"{name} in {page.relative_to(CHECKOUT)}: run Scripts/reference"


def test_every_section_is_about_a_command_and_every_command_has_one(every):
    pages = reference.generated(every)
    assert set(FOLDER.glob("*.md")) == set(pages)
    for page in pages.keys() - {INDEX}:
        text = page.read_text(encoding="utf-8")
        # A heading of the second level is a command's, in the order of the table, and its head follows.
        headings = re.findall(r"^## (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
        assert headings == list(pages[page]), page.name
        assert {name: heading for name, (heading, _) in reference.parts(page).items()} == {name: name for name in headings}
        assert text.count("<!-- generated: ") == text.count(reference.END) == len(headings), page.name


def test_a_section_says_more_than_its_head(every):
    for page in reference.generated(every).keys() - {INDEX}:
        for section in page.read_text(encoding="utf-8").split("\n## ")[1:]:
            assert section.rpartition(reference.END)[2].strip(), f"{page.name}: {section.splitlines()[0]} is not described"
