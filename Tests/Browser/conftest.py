"""What a browser shows: Chromium, driven by playwright. Skipped where there is no browser."""

import mimetypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
WEB = CHECKOUT / "Web"
sys.path.append(str(CHECKOUT / "Tests" / "Clients"))

# A site that is nowhere but in the tests: the files of Web/ and a blank page.
MODULES = "http://modules.test"


def chromium() -> str | None:
    return subprocess.run([CHECKOUT / "Scripts" / "chromium"], capture_output=True, text=True).stdout.strip() or None


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("there is no Chromium")
    # The sandbox of Chromium refuses to run as root.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=options)
        yield launched
        launched.close()


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
