"""The manual inside the service: the pages of docs/, so that a number can lead to what explains it."""

from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

FOLDERS = ("how-to", "statistics", "tasks", "models", "reference")
FILES = {".ipynb": "application/x-ipynb+json", ".svg": "image/svg+xml"}
DOCS = Path(settings.BASE_DIR) / "docs"


def manual(request: HttpRequest) -> HttpResponse:
    """The first page."""
    return redirect("manual-page", "index.md")


def manual_page(request: HttpRequest, name: str) -> HttpResponseBase:
    """One page of the documentation, as HTML; notebooks and drawings as files."""
    path = _path(name)
    if kind := FILES.get(path.suffix):
        return FileResponse(path.open("rb"), as_attachment=path.suffix == ".ipynb", content_type=kind)
    text = path.read_text(encoding="utf-8")
    title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), name)
    shown = {"title": title, "text": _html(text), "section": "manual"}
    return render(request, "experiments/manual.html", {**shown, "pages": _pages()})


def _path(name: str) -> Path:
    """A Markdown file, notebook or drawing of the documentation; anything else is not found."""
    path = (DOCS / name).resolve()
    is_ours = path.parent == DOCS or path.parent.parent == DOCS
    if not is_ours or path.suffix not in {".md", *FILES} or not path.is_file():
        raise Http404("no such page")
    return path


def _html(text: str) -> SafeString:
    """Our own Markdown; the renderer escapes HTML, and photographs are left to the published manual."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    shown = (renderer if ".svg)" in text else renderer.disable("image")).render(text)
    scrolled = shown.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')
    return mark_safe(scrolled)


def _pages() -> list[tuple[str, list[tuple[str, str]]]]:
    """Folders and their pages, by title."""
    found = []
    for folder in FOLDERS:
        titles = [
            (path.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# "), f"{folder}/{path.name}")
            for path in sorted((DOCS / folder).glob("*.md"))
        ]
        found.append((folder.replace("-", " "), sorted(titles)))
    return found
