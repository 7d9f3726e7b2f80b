"""The documentation inside the service, so that a number can link to its explanation; with a search."""

import re
from functools import cache
from pathlib import Path

import yaml
from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

FILES = {
    ".ipynb": "application/x-ipynb+json",
    ".svg": "image/svg+xml",
    ".csv": "text/csv; charset=utf-8",
}
DOWNLOADS = {".ipynb", ".csv"}
ROOT = Path(settings.BASE_DIR)
DOCS = ROOT / "docs"
SNIPPET_CHARACTERS = 160
Group = tuple[str, list[tuple[str, str]]]


def manual(request: HttpRequest) -> HttpResponse:
    """The first page, or the pages that contain all words of a search."""
    query = request.GET.get("q", "").strip()
    if not query:
        return redirect("manual-page", "index.md")
    context = {"title": "Search", "query": query, "results": search_results(query)}
    return render(request, "experiments/manual.html", {**context, "section": "manual", "groups": _groups()})


def manual_page(request: HttpRequest, name: str) -> HttpResponseBase:
    """One page of the documentation, as HTML; notebooks, drawings and tables as files."""
    path = _path(name)
    if kind := FILES.get(path.suffix):
        return FileResponse(path.open("rb"), as_attachment=path.suffix in DOWNLOADS, content_type=kind)
    text = path.read_text(encoding="utf-8")
    context = {"title": _title(text, name), "text": _html(text), "section": "manual"}
    return render(request, "experiments/manual.html", {**context, "groups": _groups()})


def search_results(query: str) -> list[dict[str, str]]:
    """Pages that contain every word, those with a word in their title first, with the text around a match."""
    words = [word.casefold() for word in query.split()]
    matches = []
    for _, pages in _groups():
        for title, name in pages:
            text = _plain_text(name)
            folded = text.casefold()
            if not all(word in folded for word in words):
                continue
            in_title = sum(word in title.casefold() for word in words)
            start = max(folded.find(words[0]) - SNIPPET_CHARACTERS // 3, 0)
            snippet = " ".join(text[start : start + SNIPPET_CHARACTERS].split())
            matches.append((in_title, {"title": title, "name": name, "snippet": f"… {snippet} …"}))
    return [result for _, result in sorted(matches, key=lambda match: -match[0])]


def _path(name: str) -> Path:
    """A Markdown file, notebook or drawing of the documentation; 404 for anything else."""
    if name not in _names():  # the name of a request never reaches the file system
        raise Http404("no such page")
    return DOCS / name


@cache
def _names() -> frozenset[str]:
    paths = (path for pattern in ("*", "*/*") for path in DOCS.glob(pattern))
    return frozenset(
        path.relative_to(DOCS).as_posix()
        for path in paths
        if path.suffix in {".md", *FILES} and path.is_file()
    )


def _title(text: str, name: str) -> str:
    return next((line[2:] for line in text.splitlines() if line.startswith("# ")), name)


def _html(text: str) -> SafeString:
    """Render Markdown; the renderer escapes HTML."""
    # "::: module.name" renders a docstring in the published documentation; here its name has to do.
    text = re.sub(r"^::: (\S+)$", r"`\1`", text, flags=re.MULTILINE)
    text = re.sub(r"\[(`[^`]+`)\]\[analysis[.\w]+\]", r"\1", text)
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    html: str = (renderer if ".svg)" in text else renderer.disable("image")).render(text)
    # Focusable, so that a keyboard can scroll what is wider than the page.
    scrollable = html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')
    return mark_safe(scrollable)  # noqa: S308 - the renderer escapes HTML


@cache
def _groups() -> list[Group]:
    """Pages by group, in the order of the published documentation's navigation."""
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    groups: list[Group] = []
    for entry in navigation:
        for title, content in entry.items():
            if isinstance(content, list):
                pages = [page for entries in content for page in entries.items()]
                # Pages that the build of the documentation writes are not among the files.
                groups.append((title, [page for page in pages if (DOCS / page[1]).is_file()]))
    return groups


@cache
def _plain_text(name: str) -> str:
    """The text of a page without Markdown's marks and code fences."""
    text = (DOCS / name).read_text(encoding="utf-8")
    text = re.sub(r"^(```.*|:::.*|\|[ :|-]+\|)$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "", text)
    return re.sub(r"[#*`\[\]|!]", " ", text)
