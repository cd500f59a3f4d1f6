"""`tiffin import` on real files, and its messages and exit codes on bad ones."""

import csv
import json
import re
import socket

import pytest

from tiffin import Server, fresh_database, item_document, outlet_document, read_log, run_tiffin, section_document

MALFORMED, EMPTY, UNREADABLE, UNREACHABLE, USAGE = 3, 4, 5, 6, 64
OUTLET_MAP = (
    "id=ID,name=Restaurant,city=City,area=Area,address=Address,cuisines=Food type,priceForTwo=Price,"
    "rating=Ratings,ratingCount=Total ratings,deliveryMinutes=Delivery time"
)


@pytest.fixture
def own_server(database):
    with Server(database=database) as server:
        yield server


def run_import(server, *arguments):
    return run_tiffin("import", *arguments, "--server", f"127.0.0.1:{server.port}", seconds=240)


def import_recipes(server, file, *options, outlet="test-kitchen"):
    return run_import(server, "recipes", file, "--outlet", outlet, "--currency", "USD", "--price", "950", *options)


def said(run) -> str:
    return (run.stdout + run.stderr).replace(",", "")


def menu_items(client, outlet):
    menu = client.json("MENU.GET", outlet)
    return [item for section in menu["sections"] for item in section["items"]] if menu else []


def import_real_outlets(server, path):
    return run_import(
        server, "outlets", path, "--map", OUTLET_MAP, "--currency", "INR", "--time-zone", "Asia/Kolkata")


@pytest.fixture(scope="module")
def real_outlets(shared_data):
    """A server with the outlets of a real service, their file, and what was said when they were imported."""
    path = shared_data / "swiggy-outlets.csv"
    with fresh_database() as database, Server(database=database) as server:
        yield server, path, import_real_outlets(server, path)


def test_the_outlets_of_a_real_service_are_imported_once(real_outlets):
    server, path, first = real_outlets
    assert first.returncode == 0, said(first)
    assert "8680 outlets: 8680 created 0 changed 0 unchanged; 8680 opened" in said(first)
    assert "all 3273 rows with 80 ratings are rated 2.9: if that means not rated yet add --unrated 2.9/80" in said(first)
    with server.client() as client:
        registered = {event["stream"] for event in read_log(client) if event["stream"].startswith("outlet-")}
        assert len(registered) == 8680
        head = client("LOG.HEAD")

        second = import_real_outlets(server, path)
        assert second.returncode == 0, said(second)
        assert "nothing changed" in said(second).lower()
        assert client("LOG.HEAD") == head


def test_a_part_of_a_file_changes_nothing_after_all_of_it(real_outlets, tmp_path):
    server, path, _ = real_outlets
    lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    part = tmp_path / "part.csv"
    part.write_text(lines[0] + "".join(lines[1:-1:200]))
    with server.client() as client:
        head = client("LOG.HEAD")
        run = import_real_outlets(server, part)
        assert (run.returncode, client("LOG.HEAD")) == (0, head), said(run)
        assert "nothing changed" in run.stdout


def test_what_a_narrower_map_leaves_out_stays(server, client, name, tmp_path):
    charges = {"taxIncluded": True, "taxes": [{"id": "vat", "name": "VAT", "rate": 20000}], "payment": "first", "payWithin": 600, "prepMinutes": 15}
    hours = [{"day": "monday", "opens": "09:00", "closes": "25:30"}]
    client("OUTLET.PUT", name, json.dumps({
        "name": "Hut", "currency": "INR", "timeZone": "UTC", "city": "Chennai", "area": "Adyar", "address": "1, Road",
        "cuisines": ["Thai"], "priceForTwo": 30000, "minimumOrder": 100, "rating": 4.25, "ratingCount": 7,
        "deliveryMinutes": 30, "hours": hours, **charges}))
    client("OUTLET.OPEN", name)
    client("OUTLET.PAUSE", name, "UNTIL", "2100-01-01T00:00:00Z")
    before = client.json("OUTLET.GET", name)
    assert client("OUTLET.PUT", name, client("OUTLET.GET", name)) == before["version"], "what was read can be put back"
    file = tmp_path / "outlets.csv"
    file.write_text(f"id,name,area,rating\n{name},Hut,,--\n")
    options = ("--currency", "INR", "--time-zone", "UTC")
    run = run_import(server, "outlets", file, "--map", "id=id,name=name", *options)
    assert (run.returncode, client.json("OUTLET.GET", name)) == (0, before), run.stderr
    assert "nothing changed" in run.stdout
    # Mapped and empty: the outlet has no such thing.
    run = run_import(server, "outlets", file, "--map", "id=id,name=name,area=area,rating=rating", *options)
    assert run.returncode == 0, run.stderr
    assert client.json("OUTLET.GET", name) == {**before, "area": None, "rating": None, "version": before["version"] + 1}


def test_an_outlet_that_was_removed_is_not_imported_again(server, client, name, tmp_path):
    client("OUTLET.PUT", name, json.dumps(outlet_document()))
    version = client("OUTLET.REMOVE", name)
    file = tmp_path / "outlets.csv"
    file.write_text(f"id,name\n{name},Hut\n{name}-2,Hut\n")
    run = run_import(
        server, "outlets", file, "--map", "id=id,name=name", "--currency", "INR", "--time-zone", "UTC")
    assert (run.returncode, run.stderr) == (
        MALFORMED,
        f"{file}:2: OUTLET.PUT: CONFLICT the outlet was removed, or somebody else has registered it meanwhile\n")
    assert client.json("OUTLET.GET", name) is None
    assert client.json("OUTLET.GET", f"{name}-2")["status"] == "open"
    assert read_log(client, "STREAM", f"outlet-{name}")[-1]["version"] == version


def pages(client, command, *words) -> list:
    items, after = [], ()
    while True:
        answer = client.json(command, *words, "LIMIT", 100, *after)
        items += answer["items"]
        if answer["next"] is None:
            return items
        after = ("AFTER", answer["next"])


def test_real_outlets_are_counted_as_in_their_file(real_outlets):
    server, path, _ = real_outlets
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    with server.client() as client:
        def total(*words):
            return client.json("OUTLETS", *words, "LIMIT", 1)["total"]

        assert total() == len(rows) == 8680
        cities = {row["City"] for row in rows}
        for city in cities:
            assert total("CITY", city.upper()) == sum(row["City"] == city for row in rows)
        counted = {count["value"]: count["count"] for count in client.json("OUTLETS", "FACETS", "LIMIT", 1)["facets"]["cities"]}
        assert counted == {city: sum(row["City"] == city for row in rows) for city in cities}
        given = {item["id"]: item["rating"] for item in pages(client, "OUTLETS", "CITY", "Bangalore")}
        assert set(given) == {row["ID"] for row in rows if row["City"] == "Bangalore"}
        for least in ("0", "3.5", "4", "4.25", "5"):
            assert total("CITY", "Bangalore", "RATING", least) == sum(r is not None and r >= float(least) for r in given.values())
        for minutes in (0, 30, 45, 59, 60, 1440):
            assert total("DELIVERY", minutes) == sum(int(row["Delivery time"]) <= minutes for row in rows)
        for sort, key in (("-price", lambda item: -item["priceForTwo"]), ("delivery", lambda item: item["deliveryMinutes"])):
            listed = pages(client, "OUTLETS", "CITY", "Kolkata", "SORT", sort)
            assert [item["id"] for item in listed] == [item["id"] for item in sorted(listed, key=lambda item: (key(item), item["id"]))]
        client("MENU.PUT", "211", json.dumps({"sections": [section_document("s", [item_document("p", 100, name="Jalapeño Popper")])]}))
        assert [item["item"] for item in pages(client, "BROWSE", "TEXT", "jalapeno")] == ["p"]
        found = pages(client, "OUTLETS", "TEXT", "tandoor hut", "AREA", "koramangala", "TAG", "test")
        assert [outlet["id"] for outlet in found] == ["211"]


def test_recipes_become_a_menu_with_images_and_links(own_server, shared_data):
    recipes = json.loads((shared_data / "recipes.json").read_text())["recipes"]
    run = import_recipes(own_server, shared_data / "recipes.json")
    assert run.returncode == 0, said(run)
    with own_server.client() as client:
        items = menu_items(client, "test-kitchen")
        assert {(i["name"], i["imageSmall"], i["imageLarge"], i["price"], i["cuisine"]) for i in items} == {
            (r["name"], r["photo_url_small"], r["photo_url_large"], 950, r["cuisine"]) for r in recipes}
        assert {i["name"]: {link["rel"]: link["url"] for link in i["links"]} for i in items} == {
            r["name"]: {rel: r[field] for rel, field in (("source", "source_url"), ("video", "youtube_url")) if r.get(field)}
            for r in recipes}
        home = client.json("OUTLET.HOME", "test-kitchen")
        assert all(section["layout"] == {"style": "grid", "minimumWidth": 160} for section in home["sections"])
        assert all(item["model"]["hasLinks"] for section in home["sections"] for item in section["items"])
        head = client("LOG.HEAD")
        again = import_recipes(own_server, shared_data / "recipes.json")
        assert (again.returncode, client("LOG.HEAD")) == (0, head)
        assert "nothing changed" in said(again).lower()


def test_a_malformed_file_is_reported_line_by_line_and_its_good_rows_are_imported_if_wanted(own_server, shared_data):
    with own_server.client() as client:
        for options, count in (((), 0), (("--partial",), 3)):
            run = import_recipes(own_server, shared_data / "recipes-malformed.json", *options)
            assert run.returncode == MALFORMED
            problems = re.findall(r"^\S*recipes-malformed\.json:\d+: (\w+): .+$", run.stderr, re.MULTILINE)
            assert problems == ["name", "cuisine", "uuid"], run.stderr
            assert len(menu_items(client, "test-kitchen")) == count


def test_an_empty_file_is_neither_fine_nor_malformed(server, shared_data):
    assert import_recipes(server, shared_data / "recipes-empty.json").returncode == EMPTY


def test_a_menu_document_is_imported_as_it_is(server, client, outlet, tmp_path):
    menu = {"sections": [section_document("all", [item_document("tea", 5000), item_document("bun", 4000)])]}
    file = tmp_path / "menu.json"
    file.write_text(json.dumps(menu))
    run = run_import(server, "menu", file, "--outlet", outlet)
    assert run.returncode == 0, said(run)
    assert [item["id"] for item in menu_items(client, outlet)] == ["tea", "bun"]
    assert "nothing changed" in said(run_import(server, "menu", file, "--outlet", outlet)).lower()


def test_an_unreadable_file_is_an_error_in_one_line(server, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"recipes": [')
    for file in (broken, tmp_path / "missing.json", tmp_path):
        run = import_recipes(server, file)
        assert run.returncode == UNREADABLE, said(run)
        assert str(file) in run.stderr
        assert len(run.stderr.splitlines()) == 1


def test_a_server_that_does_not_answer_is_named(tmp_path):
    file = tmp_path / "menu.json"
    file.write_text(json.dumps({"sections": [section_document("all", [item_document("tea", 5000)])]}))
    # Bound and not listening: nobody answers there, and nobody else can take the port meanwhile.
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        run = run_tiffin("import", "menu", file, "--outlet", "o", "--server", address)
    assert run.returncode == UNREACHABLE, said(run)
    assert address in run.stderr


@pytest.mark.parametrize("arguments", [
    ("import",), ("import", "dishes", "x"), ("import", "outlets"), ("import", "outlets", "x.csv", "--map", "nonsense"),
    ("import", "menu", "x.json"), ("import", "menu", "x.json", "--outlet"), ("serve", "--no-such-option"), ("nothing",),
], ids=" ".join)
def test_wrong_usage_is_explained(arguments):
    run = run_tiffin(*arguments)
    assert (run.returncode, run.stdout) == (USAGE, "")
    assert "--help" in run.stderr or "usage" in run.stderr.lower()


@pytest.mark.parametrize("command", [(), ("serve",), ("migrate",), ("import",), ("log",)], ids=" ".join)
def test_help_is_on_standard_output(command):
    run = run_tiffin(*command, "--help")
    assert (run.returncode, run.stderr) == (0, "")
    assert "tiffin" in run.stdout
