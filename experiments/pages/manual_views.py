"""The manual inside the service: the pages of docs/, so that a number can lead to what explains it."""

from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

FOLDERS = ("how-to", "statistics", "tasks", "models", "reference")
NOTEBOOK = ".ipynb"
DOCS = Path(settings.BASE_DIR) / "docs"


def manual(request: HttpRequest) -> HttpResponse:
    """The first page."""
    return redirect("manual-page", "index.md")


def manual_page(request: HttpRequest, name: str) -> HttpResponseBase:
    """One page of the documentation, as HTML; a notebook as a file."""
    path = _path(name)
    if path.suffix == NOTEBOOK:
        return FileResponse(path.open("rb"), as_attachment=True, content_type="application/x-ipynb+json")
    text = path.read_text(encoding="utf-8")
    title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), name)
    shown = {"title": title, "text": _html(text), "section": "manual"}
    return render(request, "experiments/manual.html", {**shown, "pages": _pages()})


def _path(name: str) -> Path:
    """A Markdown file or notebook of the documentation; anything else is not found."""
    path = (DOCS / name).resolve()
    is_ours = path.parent == DOCS or path.parent.parent == DOCS
    if not is_ours or path.suffix not in (".md", NOTEBOOK) or not path.is_file():
        raise Http404("no such page")
    return path


def _html(text: str) -> SafeString:
    """Our own Markdown; the renderer escapes HTML, and pictures are left to the published manual."""
    shown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(text)
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
