"""Every screen looks as its picture in docs/screens/.

Pictures are compared as somebody sees them from afar: by cells, each the mean of its pixels. So letters may be drawn a
little differently, as another font, Chromium or machine does, and whatever is lost, moved or of another colour is found.
If a screen is to look different, `Scripts/screenshots` takes the pictures anew.
"""

import io
import shutil
from dataclasses import dataclass

import pytest
from screenshots import DESKTOP, HOME, SCREENS, look, open_screen, picture, show_dark_home, take_all
from site_under_test import Site
from tiffin import CHECKOUT, fresh_database

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
ImageChops = pytest.importorskip("PIL.ImageChops")
ImageStat = pytest.importorskip("PIL.ImageStat")

# What is taken, and what differs, to be looked at.
TAKEN = CHECKOUT / ".build" / "pictures"
# The sides of a cell, in pixels.
CELL = 12
# A cell is clearly another one if its red, green or blue differs by more than this, of 255.
CLEAR = 24
# The most cells that may be clearly others, and the most that all may differ on average.
MOST_CLEAR = 0.005
MOST_MEAN = 1.5


@dataclass
class Difference:
    """How much two pictures of the same size differ."""

    cells: object

    @classmethod
    def between(cls, known, new):
        assert known.size == new.size, f"the picture is {new.size}, not {known.size}"
        bands = ImageChops.difference(cells(known), cells(new)).split()
        return cls(ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2]))

    @property
    def mean(self):
        return ImageStat.Stat(self.cells).mean[0]

    @property
    def clear(self):
        """The share of the cells that are clearly others."""
        return sum(self.cells.histogram()[CLEAR + 1:]) / (self.cells.width * self.cells.height)

    @property
    def is_small(self):
        return self.clear <= MOST_CLEAR and self.mean <= MOST_MEAN

    def __str__(self):
        return f"{self.clear:.2%} of the cells are clearly others, and all differ by {self.mean:.2f} on average"

    def shown(self, known, new):
        """The two pictures, and beside them where they differ."""
        differing = self.cells.point(lambda value: 255 if value > CLEAR else 4 * value).convert("RGB")
        shown = Image.new("RGB", (3 * new.width, new.height))
        for place, part in enumerate((known, new, differing.resize(new.size, Image.Resampling.NEAREST))):
            shown.paste(part, (place * new.width, 0))
        return shown


def cells(image):
    return image.convert("RGB").reduce(CELL)


@pytest.fixture(scope="module")
def demo(browser):
    with fresh_database() as url, Site(url, "--demo") as site:
        yield site


@pytest.fixture(scope="module")
def taken(demo, browser):
    shutil.rmtree(TAKEN, ignore_errors=True)
    TAKEN.mkdir(parents=True)
    take_all(demo, browser, TAKEN)
    return TAKEN


def test_every_screen_has_its_picture(taken):
    assert {path.name for path in taken.glob("*.png")} == {path.name for path in SCREENS.glob("*.png")}


@pytest.mark.parametrize("name", sorted(path.stem for path in SCREENS.glob("*.png")))
def test_a_screen_looks_as_its_picture(taken, name):
    path = taken / f"{name}.png"
    known, new = Image.open(SCREENS / path.name), Image.open(path)
    difference = Difference.between(known, new)
    if not difference.is_small:
        where = taken / f"{name}-difference.png"
        difference.shown(known, new).save(where)
        pytest.fail(f"{difference}: see {path} and {where}. If it is meant to be so: Scripts/screenshots")


# A style sheet of the test's own, for one look at the page.
STYLE = """(text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [sheet];
}"""
FAULTS = {
    "no style sheet": ("(isThere) => { for (const sheet of document.styleSheets) sheet.disabled = !isThere; }", None),
    "a rule is lost": (None, ".items.list { display: block }"),
    "text in the wrong colour": (None, ":root { --text: #b9aca0 !important }"),
    "a wrong background": (None, "body { background: #211c19 !important }"),
    "a section is gone": (None, "#s-breakfast .items { display: none }"),
    "a picture is missing": (None, ".item:nth-child(3) .picture { visibility: hidden }"),
}
HARMLESS = {
    "nothing": (None, None),
    # As another font does: other widths and weights of the letters.
    "other letters": (None, "body { letter-spacing: 0.1px; -webkit-text-stroke: 0.1px }"),
}


def test_faults_are_found_and_what_is_harmless_is_not(demo, browser):
    known = Image.open(SCREENS / "home-desktop-dark.png")
    # As on another machine: with twice as many pixels everything is drawn otherwise.
    page = open_screen(demo, browser, demo.origin + HOME, DESKTOP, device_scale_factor=2)
    show_dark_home(page, demo)
    picture(page)
    report = {}
    for name, (change, style) in {**HARMLESS, **FAULTS}.items():
        page.evaluate(STYLE, style or "")
        if change:
            page.evaluate(change, False)
        report[name] = Difference.between(known, Image.open(io.BytesIO(look(page))).reduce(2))
        if change:
            page.evaluate(change, True)
    page.context.close()
    print({name: str(found) for name, found in report.items()})
    assert {name for name, found in report.items() if not found.is_small} == set(FAULTS)
