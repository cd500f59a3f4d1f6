"""What a browser shows: Chromium, driven by playwright. Skipped where there is no browser."""

import itertools
import mimetypes
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
WEB = CHECKOUT / "Web"
sys.path.append(str(CHECKOUT / "Tests" / "Clients"))

from site_under_test import PATIENCE_SECONDS, Site, chromium, launched_browser, put_kitchen
from tiffin import fresh_database

# The workers take the files in this order, and the others after them: long ones start early.
LONGEST_FILES = ["test_hands", "test_discovery", "test_cart", "test_home", "test_pictures", "test_options", "test_console"]

unique = itertools.count(1)

# A site that is nowhere but in the tests: the files of Web/ and a blank page. Only a secure one has SHA-256.
MODULES = "https://modules.test"


def pytest_collection_modifyitems(items):
    places = {file: place for place, file in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.fixture(scope="session")
def browser():
    pytest.importorskip("playwright", reason="playwright is not installed")
    if chromium() is None:
        pytest.skip("there is no Chromium")
    with launched_browser() as launched:
        yield launched


@pytest.fixture(scope="session")
def modules(browser):
    """A blank page that can import the modules of Web/, without a server."""

    def answer(route):
        path = route.request.url.removeprefix(MODULES)
        if path == "/":
            route.fulfill(content_type="text/html", body="<!doctype html><main></main>")
        else:
            file = WEB / path.lstrip("/")
            route.fulfill(content_type=mimetypes.guess_type(file)[0], body=file.read_text())

    page = browser.new_page()
    page.route(f"{MODULES}/**", answer)
    page.goto(f"{MODULES}/")
    yield page
    page.close()


@pytest.fixture(scope="session")
def site(browser):
    """A server with its pages, for all tests that need none of their own."""
    with fresh_database() as url, Site(url) as running:
        yield running


@pytest.fixture
def merchant(site):
    with site.server.client() as connection:
        yield connection


@pytest.fixture
def name():
    """A word no other test uses, for the outlet of this one."""
    return f"b{next(unique)}"


@pytest.fixture
def kitchen(merchant, name):
    """An outlet with every layout."""
    put_kitchen(merchant, name)
    return name


@pytest.fixture
def visit(browser, site):
    """Opens pages as a new visitor: `visit(path, **options of the context)`. In the end, no page may have complained.

    With `clock`, `page.clock.fast_forward(milliseconds)` has its timers ring.
    """
    contexts, complaints = [], []

    def open_page(path, *, of=site, origin=None, clock=False, **options):
        context = browser.new_context(**{"viewport": {"width": 390, "height": 844}, **options})
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        if clock:
            context.clock.install()
        contexts.append(context)
        return of.open(context, (origin or of.origin) + path, complaints)

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints
