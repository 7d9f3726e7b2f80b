"""Takes a picture of a page as the manual shows it: of a usual height, in few colours."""

import io
import re
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page

DOCS = Path(__file__).resolve().parents[2] / "docs"
TALLEST = {1280: 2048, 390: 1248}  # px; longer pages are cut at the bottom
SETTLED_MS = 400
SHOWN = re.compile(r"\(pictures/([\w-]+)-1280\.png\)")


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

    def take(self, page: Page, name: str, *, whole: bool = True) -> None:
        """Take the page from its top or, unless ``whole``, what one sees after scrolling."""
        if not self.wants(name):
            return
        page.wait_for_load_state("load")
        page.wait_for_timeout(SETTLED_MS)
        tall = page.evaluate("document.documentElement.scrollHeight") if whole else self.height
        page.set_viewport_size(
            {"width": self.width, "height": max(self.height, min(tall, TALLEST[self.width]))}
        )
        page.wait_for_timeout(SETTLED_MS)  # figures come when they are in sight
        page.wait_for_function("[...document.images].every((one) => one.complete || one.loading === 'lazy')")
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        few = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(DOCS / "pictures" / f"{name}-{self.width}.png", optimize=True)
        page.set_viewport_size({"width": self.width, "height": self.height})
        self.taken.add(name)
        print(f"{name} at {self.width} px", flush=True)
