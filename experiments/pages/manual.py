"""The documentation inside the service, so that a number can link to its explanation; with a search."""

import posixpath
import re
import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count, pairwise
from pathlib import Path

import yaml
from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.safestring import mark_safe
from markdown_it import MarkdownIt

FILES = {
    ".ipynb": "application/x-ipynb+json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".csv": "text/csv; charset=utf-8",
}
DOWNLOADS = {".ipynb", ".csv"}
ROOT = Path(settings.BASE_DIR)
DOCS = ROOT / "docs"
LONG_PAGE = 4  # sections from which a page has a list of contents
#: Groups of pages that newcomers want less often, with factors of their rank.
LESS_WANTED = {"Decisions": 0.4, "For developers": 0.4, "Reference": 0.5, "Pictures of every page": 0.4}
STOP_WORDS = """a an and any are be by can do does for from get have how i in is it its make me my need of
    on or our per should that the their them there this to use using want we what when where which with you
    your"""
#: Words of newcomers → the words of the manual that they stand for.
WORDS_OF_MANUAL: Mapping[str, Sequence[str]] = {
    "admin": ("admin", "administrator"),
    "alpha": ("alpha", "α"),
    "backup": ("backup", "back up"),
    "careless": ("careless", "inattentive", "quality"),
    "colleague": ("colleague", "member"),
    "dataframe": ("data frame",),
    "delete": ("delete", "erase"),
    "delta": ("delta", "δ"),
    "excel": ("excel", "spreadsheet"),
    "hf": ("hugging face", "transformers"),
    "huggingface": ("hugging face",),
    "kappa": ("kappa", "κ"),
    "mechanical": ("mturk",),
    "turk": ("mturk",),
    "xlsx": ("xlsx", "spreadsheet"),
    "δ": ("delta", "δ"),
} | dict.fromkeys(
    ("annotator", "annotators", "people", "subject", "subjects", "worker", "workers"), ("participant",)
)
HEADINGS = """SELECT name, title, heading FROM headings
WHERE headings MATCH ? ORDER BY bm25(headings) * weight"""
PAGES = """SELECT name, title, snippet(pages, 2, '', '', '…', 24) FROM pages
WHERE pages MATCH ? ORDER BY bm25(pages, 0, 12, 1) * weight"""
Group = tuple[str, list[tuple[str, str]]]


def manual(request: HttpRequest) -> HttpResponse:
    """The first page, or the pages that a search finds."""
    query = request.GET.get("q", "").strip()
    if not query:
        return redirect("manual-page", "index.md")
    results, has_all = search_results(query)
    context = {"title": "Search", "query": query, "results": results, "has_all": has_all}
    return render(request, "experiments/manual.html", {**context, "section": "manual", "groups": _groups()})


def manual_page(request: HttpRequest, name: str) -> HttpResponseBase:
    """One page of the documentation, as HTML; notebooks, drawings and tables as files."""
    path = _path(name)
    if kind := FILES.get(path.suffix):
        return FileResponse(path.open("rb"), as_attachment=path.suffix in DOWNLOADS, content_type=kind)
    text = path.read_text(encoding="utf-8")
    html, sections = _html(text, name)
    heading, end, body = html.rpartition("</h1>")
    context = {"title": _title(text, name), "name": name, "section": "manual"}
    context |= {"heading": mark_safe(heading + end), "text": mark_safe(body)}  # noqa: S308 - by the renderer
    contents = sections if len(sections) >= LONG_PAGE else []
    return render(request, "experiments/manual.html", {**context, "contents": contents, "groups": _groups()})


def search_results(query: str) -> tuple[list[dict[str, str]], bool]:
    """Return pages for a search, the best first, with a snippet of each; and whether they have all words.

    Words are compared by their stems, some as other words (:data:`WORDS_OF_MANUAL`). First are pages with
    every word in their title and one heading, then those with every word anywhere, each by BM25; where there
    is none, those with any word.
    """
    words = re.findall(r"\w+", query.casefold())
    terms = []
    for word in [word for word in words if word not in STOP_WORDS.split()] or words:
        alternatives = [f'"{term}"' for term in WORDS_OF_MANUAL.get(word, (word,))]
        terms.append(f"({' OR '.join(alternatives)})")
    for joint in (" AND ", " OR "):
        expression = joint.join(terms)
        rows: dict[str, dict[str, str]] = {}
        for statement in (HEADINGS, PAGES) if terms else ():
            for name, title, snippet in _search_index().execute(statement, [expression]):
                row = rows.setdefault(name, {"name": name, "title": title})
                row["snippet"] = " ".join(snippet.split())  # of the page, if it has a match there as well
        if rows:
            break
    return list(rows.values()), joint == " AND "


@cache
def _search_index() -> sqlite3.Connection:
    """Full-text indexes in memory of pages and of their headings; Porter's stems are those of English."""
    index = sqlite3.connect(":memory:", check_same_thread=False)
    for table, column in (("pages", "text"), ("headings", "heading")):
        index.execute(
            f"CREATE VIRTUAL TABLE {table} USING fts5"
            f"(name UNINDEXED, title, {column}, weight UNINDEXED, tokenize = 'porter unicode61')"
        )
    for group, pages in _groups():
        weight = LESS_WANTED.get(group, 1.0)
        for title, name in pages:
            source = (DOCS / name).read_text(encoding="utf-8")
            index.execute("INSERT INTO pages VALUES (?, ?, ?, ?)", (name, title, _plain_text(source), weight))
            prose = re.sub(r"^```.*?^```", "", source, flags=re.MULTILINE | re.DOTALL)
            rows = [(name, title, line, weight) for line in re.findall(r"^#+ (.*)$", prose, re.MULTILINE)]
            index.executemany("INSERT INTO headings VALUES (?, ?, ?, ?)", rows)
    return index


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


def _html(text: str, name: str) -> tuple[str, list[tuple[str, str]]]:
    """Render a page's Markdown, with the anchors and titles of its sections; the renderer escapes HTML."""
    # "::: module.name" renders a docstring in the published documentation; here its name has to do.
    text = re.sub(r"^::: (\S+)$", r"`\1`", text, flags=re.MULTILINE)
    text = re.sub(r"\[(`[^`]+`)\]\[analysis[.\w]+\]", r"\1", text)
    text = re.sub(r"\)\{ width=\d+ \}", ")", text)
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = renderer.parse(text)
    sections: list[tuple[str, str]] = []
    anchors: set[str] = set()
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            title = "".join(child.content for child in inline.children or ())
            anchor = _anchor(title, anchors)
            heading.attrSet("id", anchor)
            if heading.tag == "h2":
                sections.append((anchor, title))
    for image in (child for token in tokens for child in token.children or () if child.type == "image"):
        source = posixpath.normpath(posixpath.join(posixpath.dirname(name), str(image.attrGet("src"))))
        if source in _names():
            image.attrSet("loading", "lazy")
        else:  # an installation without the pictures
            image.type = "text"
    html: str = renderer.renderer.render(tokens, renderer.options, {})
    # Focusable, so that a keyboard can scroll what is wider than the page.
    scrollable = html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')
    return scrollable, sections


def _anchor(title: str, anchors: set[str]) -> str:
    """The anchor of a heading as the published documentation has it; adds it to those of the page."""
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_title).strip().lower())
    repeats = (f"{slug}_{number}" for number in count(1))
    anchor = slug if slug and slug not in anchors else next(one for one in repeats if one not in anchors)
    anchors.add(anchor)
    return anchor


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


def _plain_text(text: str) -> str:
    """The text of Markdown without marks and code fences."""
    text = re.sub(r"^(```.*|:::.*|\|[ :|-]+\|)$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)(\{[^}]*\})?", "", text)
    return re.sub(r"[#*`\[\]|!]", " ", text)
