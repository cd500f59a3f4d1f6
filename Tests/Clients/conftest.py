import itertools
import os
import shutil

import pytest

import schemas
import tiffin
from monkeys import run_monkey
from tiffin import Server, fresh_data_dir, fresh_database, private_redis

unique = itertools.count(1)


def pytest_configure(config):
    if "TIFFIN_TEST_DATABASE" not in os.environ:
        pytest.exit("TIFFIN_TEST_DATABASE is not set; run these tests through Scripts/test", returncode=4)
    schemas.watch()


# The workers take the files in this order, and the others after them: long ones start early.
LONGEST_FILES = [
    "test_silent_database", "test_documents", "test_audit", "test_derived", "test_values", "test_many_orders",
    "test_receipts", "test_rebuild", "test_simulation", "test_order_proofs", "test_year", "test_since",
    "test_fleet", "test_import", "test_upgrades", "test_time_travel", "test_archive", "test_databases",
    "test_clients", "test_flips", "test_kill", "test_quotes", "test_layout", "test_users", "test_subscriptions",
    "test_deeds", "test_many_carts", "test_placement", "test_stops", "test_backup_folder", "test_relay",
    "test_forgetting", "test_ahead", "test_crash", "test_damage", "test_power_cut", "test_limits", "test_package",
    "test_hostile", "test_order_changes", "test_pricing", "test_large_menus",
]


def pytest_collection_modifyitems(items):
    places = {file: place for place, file in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.fixture
def database():
    with fresh_database() as url:
        yield url


@pytest.fixture
def data_dir():
    with fresh_data_dir() as folder:
        yield folder


@pytest.fixture(scope="session")
def server():
    """One server for all tests that need no server of their own."""
    with fresh_database() as url, Server(database=url) as running:
        yield running


@pytest.fixture
def client(server):
    with server.client() as connection:
        yield connection


@pytest.fixture
def name():
    """A word no other test uses, for the identifiers of this one."""
    return f"t{next(unique)}"


@pytest.fixture
def outlet(client, name):
    """An open outlet with two sections: `rice` 1,250.00, `kottu` 980.00, and the dessert `watalappan` 450.00."""
    tiffin.put_open_outlet(client, name, [
        tiffin.section_document("lunch", [
            tiffin.item_document("rice", 125000), tiffin.item_document("kottu", 98000),
        ]),
        tiffin.section_document("desserts", [
            tiffin.item_document("watalappan", 45000, kind="dessert"),
        ], kind="desserts", layout={"style": "horizontalCard", "width": 150, "height": 300}),
    ])
    return name


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real input, if it is next to the checkout."""
    if not tiffin.SHARED_DATA.is_dir():
        pytest.skip(f"no real input at {tiffin.SHARED_DATA.name}/ next to the checkout")
    return tiffin.SHARED_DATA


@pytest.fixture
def monkey(tmp_path):
    """Runs the load generator to its end and checks its exit code."""
    return lambda server, *options, code=0: run_monkey(tmp_path, server, *options, code=code)


@pytest.fixture(scope="module")
def redis():
    """The port of a private redis-server."""
    if not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    with private_redis() as port:
        yield port
