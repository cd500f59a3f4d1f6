"""Two spellings of one text, composed and decomposed Unicode, are two texts: for IDs, notes, names and words."""

import json

import pytest

from tiffin import item_document, outlet_document, section_document

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def test_an_id_in_each_spelling_is_two_commands(client, outlet):
    assert client("CART.ADD", outlet, outlet, "rice", 1, "ID", COMPOSED) == 1
    assert client("CART.ADD", outlet, outlet, "rice", 1, "ID", DECOMPOSED) == 2
    for spelling in (COMPOSED, DECOMPOSED):
        client("CART.ADD", outlet, outlet, "rice", 1, "ID", spelling)
    assert client("CART.COUNT", outlet) == 2


def test_a_note_in_each_spelling_is_a_line(client, outlet):
    for note in (COMPOSED, DECOMPOSED, COMPOSED):
        client("CART.ADD", outlet, outlet, "rice", 1, "NOTE", note)
    lines = client.json("CART.GET", outlet)["lines"]
    assert [(line["note"], line["quantity"]) for line in lines] == [(COMPOSED, 2), (DECOMPOSED, 1)]


@pytest.mark.parametrize("field", ["name", "city", "area", "address", "cuisines"])
def test_an_outlet_takes_the_other_spelling(client, name, field):
    for spelling in (COMPOSED, DECOMPOSED, COMPOSED):
        value = [spelling] if field == "cuisines" else spelling
        client("OUTLET.PUT", name, json.dumps(outlet_document(**{field: value})))
        assert client.json("OUTLET.GET", name)[field] == value
    assert client.json("OUTLET.GET", name)["version"] == 3


@pytest.mark.parametrize("field", ["name", "description", "cuisine", "tags"])
def test_an_item_takes_the_other_spelling(client, outlet, field):
    for number, spelling in enumerate((COMPOSED, DECOMPOSED, COMPOSED)):
        item = {**item_document("tea", 100), field: [spelling] if field == "tags" else spelling}
        document = {"sections": [section_document("s", [item], title=spelling)]}
        client("MENU.PUT", outlet, json.dumps(document))
        menu = client.json("MENU.GET", outlet)
        assert menu["sections"][0]["items"][0][field] == item[field]
        assert menu["sections"][0]["title"] == spelling


def test_both_spellings_are_found_as_one_word(client, name):
    for number, spelling in enumerate((DECOMPOSED, COMPOSED, COMPOSED.upper())):
        client("OUTLET.PUT", f"{name}-{number}", json.dumps(outlet_document(f"{name}", city=f"{spelling} {name}")))
    assert client.json("OUTLETS", "CITY", f"CAFE {name}")["total"] == 3
    answer = client.json("OUTLETS", "TEXT", name, "cafe", "FACETS")
    assert answer["total"] == 3
    assert answer["facets"]["cities"] == [{"value": f"CAF\u00c9 {name}", "count": 3}], "all are as frequent: the first by bytes"
    client("OUTLET.PUT", f"{name}-3", json.dumps(outlet_document(f"{name}", city=f"{DECOMPOSED} {name}")))
    answer = client.json("OUTLETS", "TEXT", name, "cafe", "FACETS")
    assert answer["facets"]["cities"] == [{"value": f"{DECOMPOSED} {name}", "count": 4}], "the most frequent"
    # The outlet changes from one spelling to the other.
    for spelling in (COMPOSED, DECOMPOSED) * 2:
        client("OUTLET.PUT", f"{name}-1", json.dumps(outlet_document(f"{name}", city=f"{spelling} {name}")))
        assert client.json("OUTLETS", "CITY", f"{spelling} {name}")["total"] == 4
