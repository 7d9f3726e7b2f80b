"""A real Chromium that may talk to our server only."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

# The shell without windows does a third less work for the same pages (28 tests on one core: 70 s, not 108 s).
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
# With BROWSER_FONTS=debian, latin or noto, browsers have the fonts of these folders and no others.
FONT_FOLDERS = {
    "debian": ["/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/opentype/urw-base35"],
    "latin": ["/usr/share/fonts/opentype/urw-base35"],
    "noto": ["/usr/share/fonts/truetype/noto", "/usr/share/fonts/opentype/noto"],
}
FONT_PACKAGES = {
    "debian": "fonts-dejavu-core fonts-urw-base35",
    "latin": "fonts-urw-base35",
    "noto": "fonts-noto-core fonts-noto-cjk",
}
FONT_RULES = """<?xml version="1.0"?>
<fontconfig>{}<cachedir>{}</cachedir><include ignore_missing="yes">/etc/fonts/conf.d</include></fontconfig>
"""
PATIENCE_MS = 30_000  # a busy machine is slow; what never comes fails all the same
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TARGETS = "button, .button, label.option, label.choice, a.way-out, input[type=text]"
EXPECTED = ("409", "422", "503", "net::ERR_")  # over; a wrong answer; a network that a test takes away
EXPECTED += ("occurred when fetching the script",)  # the same, while the worker is on its way
NO_ENGINE = {
    "content_type": "text/javascript",
    "body": "document.querySelector('form[data-script]')?.removeAttribute('data-script')",
}


@pytest.fixture(scope="session")
def browser_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of Chromium, with the fonts that ``BROWSER_FONTS`` names, or those of the machine."""
    name = os.environ.get("BROWSER_FONTS", "")
    return environment_with_fonts(name, tmp_path_factory.mktemp("fonts")) if name else dict(os.environ)


def environment_with_fonts(name: str, folder: Path) -> dict[str, str]:
    """The environment of a browser with the fonts of this name only, which are cached in the folder."""
    missing = [folder for folder in FONT_FOLDERS[name] if not Path(folder).is_dir()]
    if missing:
        pytest.skip(f"{', '.join(missing)} not found: apt-get install {FONT_PACKAGES[name]}")
    entries = "".join(f"<dir>{folder}</dir>" for folder in FONT_FOLDERS[name])
    (folder / "fonts.conf").write_text(FONT_RULES.format(entries, folder / "cache"))
    return {**os.environ, "FONTCONFIG_FILE": str(folder / "fonts.conf")}


@pytest.fixture(scope="session")
def chromium(browser_environment: dict[str, str]) -> Iterator[Browser]:
    """The system's Chromium, or a skip that says how to get one."""
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        pytest.skip("no Chromium here: install one, for example with: apt-get install chromium")
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright keeps a loop in this thread
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=QUIET, env=browser_environment)
        yield browser
        browser.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def open_page(chromium: Browser, live_server) -> Iterator[Callable[..., Page]]:
    """Open pages of any width, dark or light, with or without JavaScript; ``plain``: without the engine.

    Afterwards: no request went to another host, and nothing broke the content policy.
    """
    contexts, foreign, complaints = [], [], []

    def open_one(*, width: int = 390, height: int = 844, plain: bool = False, **options: Any) -> Page:
        context = chromium.new_context(
            base_url=live_server.url, viewport={"width": width, "height": height}, **options
        )
        contexts.append(context)
        if plain:  # axe needs JavaScript, the page goes without
            context.route("**/engine/start.js", lambda route: route.fulfill(**NO_ENGINE))
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on(
            "request",
            lambda request: (
                foreign.append(request.url) if _is_foreign(request.url, live_server.url) else None
            ),
        )
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type == "error" else None
        )
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert foreign == []
    assert [complaint for complaint in complaints if not any(words in complaint for words in EXPECTED)] == []


def _is_foreign(url: str, home: str) -> bool:
    return not url.startswith((home, "data:", "blob:"))


@pytest.fixture
def check_page() -> Callable[[Page], None]:
    """One look at a page: axe finds nothing, nothing scrolls sideways, targets are large enough."""

    def check(page: Page) -> None:
        # With `preload`, axe copies style sheets that it cannot read yet, which the content security policy
        # refuses and the console reports.
        results = Axe().run(page, options={"resultTypes": ["violations"], "preload": False})
        assert results.violations_count == 0, results.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
        small = page.locator(TARGETS).evaluate_all(
            """all => all.filter(one => one.offsetParent && one.getBoundingClientRect().height < 44)
                         .map(one => one.outerHTML)"""
        )
        assert small == []

    return check
