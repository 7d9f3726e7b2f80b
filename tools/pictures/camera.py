"""Takes a picture of a page as the manual shows it: of a usual height, in few colours."""

import io
import re
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page

DOCS = Path(__file__).resolve().parents[2] / "docs"
TALLEST = {1280: 2048, 390: 1248}  # px; longer pages are cut at the bottom
SETTLED_MS = 400
FIGURES_MS = 60_000  # the first figure of a process loads the drawing library
SMALLEST_FIGURE, FEWEST_COLOURS = 60, 8  # px; a drawn figure has dozens of colours, an empty box one or two
MACHINE_PATH = re.compile(r"(?:\.\./)+\S+|/(?:tmp|home|root|Users|var/folders)/\S+")
BOXES_OF_IMAGES_IN_SIGHT = """() => [...document.images]
  .map((image) => image.getBoundingClientRect())
  .filter((box) => box.width && box.height && box.top < innerHeight && box.bottom > 0)
  .map(({x, y, width, height}) => ({x, y, width, height}))"""
IMAGES_IN_SIGHT_ARE_LOADED = """() => [...document.images].every((image) => {
  const box = image.getBoundingClientRect()
  const isInSight = box.top < innerHeight && box.bottom > 0 && image.checkVisibility()
  return !isInSight || (image.complete && image.naturalWidth > 0)
})"""
SHOWN = re.compile(r"\(pictures/([\w-]+)-1280\.png\)")


class EmptyFigure(Exception):
    """A figure of the page was not drawn."""


class MachinePath(Exception):
    """The page shows a path of the machine that took the picture."""


def on_the_page() -> set[str]:
    """The names of the pictures that the manual shows."""
    return set(SHOWN.findall((DOCS / "pictures.md").read_text(encoding="utf-8")))


class Camera:
    """Opens pages of one width and takes pictures of them."""

    def __init__(self, browser: Browser, address: str, *, width: int, height: int, only: set[str]) -> None:
        self.browser, self.address, self.only = browser, address, only
        self.width, self.height = width, height
        self.taken: set[str] = set()

    def wants(self, *names: str) -> bool:
        """Whether one of these is asked for."""
        return not self.only or bool(self.only & set(names))

    def somebody(self) -> BrowserContext:
        """A browser of its own, as another person has it."""
        context = self.browser.new_context(
            base_url=self.address,
            viewport={"width": self.width, "height": self.height},
            has_touch=self.width < 600,
            is_mobile=self.width < 600,
            reduced_motion="reduce",
        )
        context.set_default_timeout(30_000)
        return context

    def take(self, page: Page, name: str, *, is_full_page: bool = True) -> None:
        """Take the page from its top or, unless ``whole``, what one sees after scrolling."""
        if not self.wants(name):
            return
        page.wait_for_load_state("load")
        page.wait_for_timeout(SETTLED_MS)
        tall = page.evaluate("document.documentElement.scrollHeight") if is_full_page else self.height
        page.set_viewport_size(
            {"width": self.width, "height": max(self.height, min(tall, TALLEST[self.width]))}
        )
        page.wait_for_timeout(SETTLED_MS)
        page.wait_for_function(IMAGES_IN_SIGHT_ARE_LOADED, timeout=FIGURES_MS)
        page.wait_for_timeout(SETTLED_MS)
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        self._check(page, image, name)
        few = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(DOCS / "pictures" / f"{name}-{self.width}.png", optimize=True)
        page.set_viewport_size({"width": self.width, "height": self.height})
        self.taken.add(name)
        print(f"{name} at {self.width} px", flush=True)

    def _check(self, page: Page, image: Image.Image, name: str) -> None:
        """Refuse a picture with an empty figure, or with a path of this machine."""
        for box in page.evaluate(BOXES_OF_IMAGES_IN_SIGHT):
            left, top = max(int(box["x"]), 0), max(int(box["y"]), 0)
            right, bottom = int(box["x"] + box["width"]), int(box["y"] + box["height"])
            if right - left < SMALLEST_FIGURE or bottom - top < SMALLEST_FIGURE:
                continue
            crop = image.crop((left, top, min(right, image.width), min(bottom, image.height)))
            colours = crop.getcolors(FEWEST_COLOURS)  # None: more than that many
            if colours is not None:
                raise EmptyFigure(f"{name} at {self.width} px: the figure at {left}, {top} is empty")
        if match := MACHINE_PATH.search(page.inner_text("body")):
            raise MachinePath(f"{name} at {self.width} px shows a path of this machine: {match[0]}")
