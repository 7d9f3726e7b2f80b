"""The participant's copy of the consent page: a page to print and a PDF, before and after the decision.

Fonts are those built into Typst and those of the folders in the setting ``PDF_FONTS``, no others of the
machine. Where none has a character, the PDF would show a box: its address returns the page to print instead.
"""

import re
from functools import lru_cache
from html.parser import HTMLParser

import typst
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from analysis.report.typeset import needs_fonts, quote
from experiments.materials.markdown import as_blocks
from experiments.materials.markup import MOST_NESTED, TAGS
from experiments.models import ExperimentVersion
from experiments.studies.languages import interface_translation
from experiments.studies.wording import gettext
from judgments.models import Consent, Session
from judgments.screens.arrival_views import consent_text
from judgments.screens.session_views import in_session
from judgments.screens.shared_pages import not_found, page
from judgments.sessions.arrival import newest_version
from judgments.sessions.protocol import Protocol, load_protocol

HEAD = """#set page(paper: "a4", margin: 2.5cm, numbering: "1 / 1")
#set text(font: FONTS, size: 11pt, lang: LANGUAGE, hyphenate: false)
#show link: underline
"""
BUILT_IN_FONT = "Libertinus Serif"
# Fonts of other scripts may have one weight only, as in the container image: an outline makes them bold.
BOLD = "#show strong: set text(stroke: 0.025em)\n"
# By the beginning of a language tag, the longest first: scripts that share characters differ in their shapes.
FONTS = {
    "zh-hant": "Noto Serif CJK TC",
    "zh-tw": "Noto Serif CJK TC",
    "zh-hk": "Noto Serif CJK HK",
    "zh": "Noto Serif CJK SC",
    "ja": "Noto Serif CJK JP",
    "ko": "Noto Serif CJK KR",
    "he": "Noto Serif Hebrew",
    "yi": "Noto Serif Hebrew",
    "ar": "Noto Naskh Arabic",
    "fa": "Noto Naskh Arabic",
}
WHITE_SPACE = re.compile(r"[ \t\r\n\f]+")
# Boxes to tick are drawn, because few fonts have ☐ and ☒, which are their alternative texts.
BOX = """#let tick-box(symbol, lines) = box(baseline: 0.08em, image(bytes(
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 10 10'><path d='M.5 .5h9v9h-9z" + lines + "' "
  + "fill='none' stroke='#000' stroke-width='.8'/></svg>"), height: 0.75em, alt: symbol))
"""
BOXES = {False: '#tick-box("☐", "")', True: '#tick-box("☒", "M2.5 2.5l5 5M7.5 2.5l-5 5")'}
#: Typst before and after the content of each element that the page may have.
ELEMENTS = {
    "a": ("#link(HREF)[", "]"),
    "b": ("#strong[", "]"),
    "blockquote": ("#quote(block: true)[", "]\n\n"),
    "br": ("#linebreak();", ""),
    "code": ("", ""),
    "em": ("#emph[", "]"),
    **{f"h{level}": (f"#heading(level: {level - 1}, [", "])\n\n") for level in range(2, 6)},
    "hr": ("#line(length: 100%)\n\n", ""),
    "i": ("#emph[", "]"),
    "li": ("[", "],"),
    "ol": ("#enum(start: START, ", ")\n\n"),
    "p": ("", "\n\n"),
    "rp": ("", ""),
    "rt": ("#super[", "]"),
    "ruby": ("", ""),
    "s": ("#strike[", "]"),
    "span": ("#[", "]"),
    "strong": ("#strong[", "]"),
    "sub": ("#sub[", "]"),
    "sup": ("#super[", "]"),
    "u": ("#underline[", "]"),
    "ul": ("#list(", ")\n\n"),
}
FORMATS = TAGS - {"br", "rp"}
CONTAINERS = {"", "blockquote", "ol", "ul"}  # elements in which white space is no text


@require_safe
def copy_page(request: HttpRequest, slug: str) -> HttpResponse:
    """The text of the consent page, to read and print."""
    version = newest_version(slug)
    return not_found(request) if version is None else _page(request, version, None)


@require_safe
def copy_pdf(request: HttpRequest, slug: str) -> HttpResponse:
    """The text of the consent page as PDF."""
    version = newest_version(slug)
    return not_found(request) if version is None else _pdf(request, version, None)


@in_session
def own_page(request: HttpRequest, session: Session) -> HttpResponse:
    """The text that a participant agreed to, with the time and the statements they ticked."""
    return _page(request, session.version, _decision(session))


@in_session
def own_pdf(request: HttpRequest, session: Session) -> HttpResponse:
    """The same as PDF."""
    return _pdf(request, session.version, _decision(session))


def _decision(session: Session) -> Consent | None:
    return session.consents.filter(given=True).order_by("pk").last()


def _page(
    request: HttpRequest, version: ExperimentVersion, decision: Consent | None, *, lacks_fonts: bool = False
) -> HttpResponse:
    protocol = load_protocol(version)
    return page(
        request,
        "consent_copy",
        language=protocol.language,
        title=protocol.title,
        contact=protocol.contact,
        text=consent_text(protocol),
        statements=decision.statements if decision else protocol.consent_statements,
        decision=decision,
        lacks_fonts=lacks_fonts,
    )


def _pdf(request: HttpRequest, version: ExperimentVersion, decision: Consent | None) -> HttpResponse:
    protocol = load_protocol(version)
    with interface_translation(protocol.language):
        source = _source(protocol, decision)
    pdf = _compile_pdf(source)
    if pdf is None:
        return _page(request, version, decision, lacks_fonts=True)
    response = HttpResponse(pdf, content_type="application/pdf")
    response["Content-Disposition"] = 'inline; filename="consent.pdf"'
    response["Cache-Control"] = "no-store"
    return response


@lru_cache(maxsize=50)
def _compile_pdf(source: str) -> bytes | None:
    """The copy as PDF; None where no font has some character."""
    folders = settings.PDF_FONTS if needs_fonts(source) else []
    fonts = typst.Fonts(include_system_fonts=False, font_paths=folders)
    try:
        # PDF/A does not allow characters without a glyph.
        return bytes(typst.compile(source.encode(), font_paths=fonts, pdf_standards="a-2b"))
    except typst.TypstError as error:
        if "could not be displayed" not in error.message:
            raise
        return None


def _fonts(language: str) -> str:
    """The built-in font and that of the language's script, as a Typst array."""
    tag = language.lower().replace("_", "-")
    names = [name for start, name in FONTS.items() if tag == start or tag.startswith(f"{start}-")][:1]
    # The container image has the Chinese, Japanese and Korean fonts without serifs.
    names += [name.replace("Serif", "Sans") for name in names if "CJK" in name]
    return f"({', '.join(quote(name) for name in [BUILT_IN_FONT, *names])},)"


def _source(protocol: Protocol, decision: Consent | None) -> str:
    """The copy as Typst source."""
    rows = decision.statements if decision else protocol.consent_statements
    statements = [f"{BOXES[bool(row.get('ticked'))]} #{quote(row['text'])}" for row in rows]
    parts = [
        HEAD.replace("FONTS", _fonts(protocol.language)).replace(
            "LANGUAGE", quote(protocol.language[:2].lower())
        ),
        f'#text(size: 18pt, weight: "semibold", {quote(protocol.title)})',
        BOLD if needs_fonts(consent_text(protocol)) else "",
        BOX if statements else "",
        _typeset(as_blocks(consent_text(protocol))),
        *statements,
    ]
    if protocol.contact:
        parts.append(f"#{quote(gettext('Contact the researchers') + ': ' + protocol.contact)}")
    if decision:
        at = timezone.localtime(decision.at).isoformat(sep=" ", timespec="minutes")
        parts.append(f"#{quote(gettext('You agreed at this time:') + ' ' + at)}")
    return "\n\n".join(parts)


def _typeset(html: str) -> str:
    """Convert the HTML of the consent page, which has no elements but those of :data:`ELEMENTS`, to Typst."""
    typesetter = _Typesetter()
    typesetter.feed(html)
    typesetter.close()
    return "".join(typesetter.parts)


class _Typesetter(HTMLParser):
    """Reads the output of the sanitizer, in which all elements are closed and nested."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._open = [""]
        self._n_formats = 0  # that are open; Typst refuses some 60 in each other, and deeper ones look alike

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element; one that is unknown raises ``KeyError``, because its text must not be lost."""
        values = dict(attrs)
        start = ELEMENTS[tag][0].replace("HREF", quote(values.get("href") or "#"))
        self._n_formats += tag in FORMATS
        if tag not in FORMATS or self._n_formats <= MOST_NESTED:
            self.parts.append(start.replace("START", str(int(values.get("start") or 1))))
        if tag not in {"br", "hr"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        if tag not in FORMATS or self._n_formats <= MOST_NESTED:
            self.parts.append(ELEMENTS[tag][1])
        self._n_formats -= tag in FORMATS
        self._open.pop()

    def handle_data(self, data: str) -> None:
        """Add text; parentheses around readings are for browsers without ruby."""
        is_text = self._open[-1] not in CONTAINERS or not data.isspace()
        if is_text and self._open[-1] != "rp":
            self.parts.append(f"#{quote(WHITE_SPACE.sub(' ', data))};")
