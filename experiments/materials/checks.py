"""Checks of a material set: duplicates, holes in the design, identical members of a pair, stray characters.

Invisible and look-alike characters change model scores and judgments unnoticed.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.text import plural
from experiments.materials.collection import Materials
from experiments.materials.findings import Finding, Report, Severity
from experiments.materials.markup import COLUMN, INLINE, MOST_NESTED, declared_markup, has_tags, nesting
from experiments.materials.pairing import joined_groups
from experiments.materials.schema import ACCEPTABLE, CONTEXT, PAIR_FIELDS, SENTENCE_FIELDS, UNACCEPTABLE

#: Code of the check → its severity, the characters, and their description.
STRAY: dict[str, tuple[Severity, re.Pattern[str], str]] = {
    "control": (
        "error",
        re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)"),
        "a control character that other programs take for the end of the text: delete it in the file",
    ),
    "line_end": ("warning", re.compile(r"[\t\n\r\x80-\x9f]"), "a tab, line end or control character"),
    "replacement": (
        "warning",
        re.compile("[\ufffd\ufffe\uffff]"),
        "a replacement character: text was lost before",
    ),
    "zero_width": ("warning", re.compile("[\u200b\u2060\ufeff\u00ad]"), "an invisible character"),
    "joiner": (
        "note",
        re.compile("[\u200c\u200d]"),
        "a joiner, which only emoji, Persian and Indic scripts need",
    ),
    "no_break_space": ("warning", re.compile("[\u00a0\u202f\u2007]"), "a no-break space"),
    "odd_space": (
        "warning",
        re.compile("[\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f]"),
        "an unusual space",
    ),
    "bidi": ("warning", re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]"), "a direction mark"),
    "private_use": ("warning", re.compile("[\ue000-\uf8ff]"), "a private-use character"),
}
_LINE_END = re.compile(r"\r\n?|\n")  # kept in contexts
_BETWEEN = "\x1f"  # context and sentence, where both are compared
LONG_TEXT = 300  # characters; more does not fit on a phone beside its answers
LONG_WORD = 60  # letters
SPACELESS_SCRIPTS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_CURLY = re.compile("[‘’“”]")
# Two asterisks with two more after them are bold type.
_JUDGMENT_MARK = re.compile(r"\s*(\*(?!\*)|\*\*(?!.*\*\*)|\?{1,3}\*?|[#%])\s*[^\W\d]", re.DOTALL)


def normalize_text(text: str) -> str:
    """Normalize a text for comparison: Unicode NFC."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def stray_characters(text: str) -> Iterator[tuple[str, Severity, str]]:
    """Yield code, severity and description of what a reader cannot see in a text.

    Examples
    --------
    >>> [code for code, _, _ in stray_characters("a\u00a0b ")]
    ['edge_space', 'no_break_space']
    """
    if text != text.strip():
        yield "edge_space", "warning", "space at its beginning or end"
    if "  " in text:
        yield "double_space", "note", "two spaces in a row"
    if text.isascii() and text.isprintable():
        return
    if quote_style(text) == "mixed":
        yield "mixed_quotes", "warning", "straight and curly quotation marks in one sentence"
    if not unicodedata.is_normalized("NFC", text):
        yield "not_nfc", "warning", "letters that are not composed as in Unicode NFC"
    for code, (severity, pattern, description) in STRAY.items():
        characters = sorted(set(pattern.findall(text)))
        if characters:
            points = ", ".join(f"U+{ord(character):04X}" for character in characters)
            yield code, severity, f"{description} ({points})"


def quote_style(text: str) -> str:
    """Return the style of a text's quotation marks and apostrophes.

    Examples
    --------
    >>> quote_style("don't"), quote_style("don’t")
    ('straight', 'curly')
    """
    straight = "'" in text or '"' in text
    curly = not text.isascii() and _CURLY.search(text) is not None
    return ("none", "curly", "straight", "mixed")[2 * straight + curly]


def check(materials: Materials) -> Report:
    """Check a material set.

    Notes
    -----
    Texts are compared in Unicode NFC. Only errors (such as a value too long to be stored) prevent the
    import; duplicates and holes may be intended.
    """
    report = Report()
    report.add(findings(materials))
    return report


def findings(materials: Materials) -> Iterator[Finding]:
    """Yield all findings of the reader and the checks."""
    contexts = [row.get(CONTEXT, "") for row in materials.sentences["attributes"]]
    sentences = materials.sentences.assign(
        context=contexts,
        # One sentence after two contexts is two stimuli.
        compared=[
            normalize_text(f"{context}{_BETWEEN}{text}" if context else text)
            for context, text in zip(contexts, materials.sentences["text"], strict=True)
        ],
    )
    yield from materials.findings
    yield from _contexts(contexts)
    for sentence_check in _SENTENCE_CHECKS:
        yield from sentence_check(sentences)
    texts = sentences.set_index("sentence_id")["compared"]
    pairs = materials.pairs.assign(
        good=materials.pairs["good_id"].map(texts), bad=materials.pairs["bad_id"].map(texts)
    )
    for pair_check in _PAIR_CHECKS:
        yield from pair_check(pairs)
    yield from _find_unpaired(sentences, pairs)


def _contexts(contexts: Sequence[str]) -> Iterator[Finding]:
    n = sum(map(bool, contexts))
    if not n:
        return
    rest = f"; {len(contexts) - n} have none" if n < len(contexts) else ""
    message = (
        f"{plural(n, 'sentence has a context', 'sentences have a context')}, which participants see above it "
        f"unless the study hides it, and which models read before it{rest}."
    )
    yield Finding("note", "context", message)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _too_long(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Values longer than their database columns."""
    limits = {name: field.max_length for name, field in SENTENCE_FIELDS.items() if field.max_length}
    limits["language"] = limits.pop("sentence_language")
    for name, limit in limits.items():
        lengths = [*map(len, sentences[name].tolist())]
        if max(lengths, default=0) <= limit:
            continue
        for row in _records(sentences[np.array(lengths) > limit]):
            message = f"column {name!r}: {len(row[name])} characters, at most {limit} can be stored."
            yield Finding("error", "too_long", message, row["file"], row["row"], (row["sentence_id"],))


def _pair_ids_too_long(pairs: pd.DataFrame) -> Iterator[Finding]:
    limit = PAIR_FIELDS["pair_id"].max_length
    for row in _records(pairs[pairs["pair_id"].str.len() > limit]):
        message = f"column 'pair_id': at most {limit} characters can be stored."
        yield Finding("error", "too_long", message, row["file"], row["row"], (row["pair_id"],))


def _has_text(compared: pd.Series) -> "pd.Series[bool]":
    """Return which texts are known; a file of judgments may name sentences by item and condition only."""
    return (compared != "") & (compared.str[-1:] != _BETWEEN)


def _same_string(sentences: pd.DataFrame) -> Iterator[Finding]:
    """One string under several ids; a warning where its expected status differs."""
    repeated = sentences[sentences["compared"].duplicated(keep=False)]
    repeated = repeated[_has_text(repeated["compared"])]
    for text, rows in repeated.groupby("compared", sort=False):
        ids = tuple(rows["sentence_id"])
        conflicting = {ACCEPTABLE, UNACCEPTABLE} <= set(rows["expected"])
        first = rows.iloc[0]
        use = "both as acceptable and as unacceptable" if conflicting else f"under {len(ids)} ids"
        sentence = str(text).rpartition(_BETWEEN)[2]
        message = f"{sentence!r} occurs {use}: {', '.join(ids[:4])}{' …' if len(ids) > 4 else ''}."
        code = "conflicting_status" if conflicting else "same_string"
        yield Finding("warning" if conflicting else "note", code, message, first["file"], first["row"], ids)


def _cells(sentences: pd.DataFrame) -> pd.DataFrame:
    """The targets with a condition."""
    return sentences[(sentences["condition"] != "") & ~sentences["is_filler"].astype(bool)]


def _duplicate_cells(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Two sentences of one item in one condition."""
    cells = _cells(sentences)
    repeated = cells[cells.duplicated(["item", "condition"], keep=False)]
    for (item, condition), rows in repeated.groupby(["item", "condition"], sort=False):
        ids, second = tuple(rows["sentence_id"]), rows.iloc[1]
        message = f"item {item} has {len(ids)} sentences in condition {condition!r}."
        yield Finding("warning", "duplicate_cell", message, second["file"], second["row"], ids)


def _holes(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Items that lack a condition which the paradigm's other items with their conditions have."""
    cells = _cells(sentences)
    once = cells.drop_duplicates(["item", "condition"])
    n_conditions = once.groupby("paradigm")["condition"].transform("nunique")
    if (once.groupby("item")["condition"].transform("size") == n_conditions).all():
        return  # a fast no for large files
    links = dict.fromkeys(_neighbours(once))
    designs = joined_groups(dict.fromkeys(cells["condition"]), links) if links else {}
    design = [designs.get(condition, "") for condition in cells["condition"]]
    groups = cells.assign(design=design).groupby(["paradigm", "design"], sort=False)
    for (paradigm, _), rows in groups:
        conditions = list(dict.fromkeys(rows["condition"]))
        grid = rows.drop_duplicates(["item", "condition"]).groupby("item", sort=False).size()
        short = grid[grid < len(conditions)]
        if short.sum() == len(conditions) and len(short) == len(grid):
            continue  # every item has conditions of its own: not a factorial design
        where = f" of {paradigm!s}" if paradigm else ""
        if len(grid) > len(conditions) > 1 and (grid == 1).all():
            message = f"each item{where} has one of {len(conditions)} conditions only, none has two."
            yield Finding("note", "nested_items", message, rows["file"].iloc[0], rows["row"].iloc[0])
            continue
        rows = rows[rows["item"].isin(short.index)]
        present = rows.groupby("item", sort=False)["condition"].agg(set)
        for row in _records(rows.drop_duplicates("item")):
            absent = [condition for condition in conditions if condition not in present[row["item"]]]
            message = f"item {row['item']}{where} has no sentence in condition {', '.join(absent)}."
            yield Finding("warning", "hole", message, row["file"], row["row"], (row["item"],))


def _neighbours(cells: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Conditions that one item has; conditions without such a chain are of different designs."""
    first: dict[str, str] = {}
    for item, condition in zip(cells["item"], cells["condition"], strict=True):
        if item in first:
            yield first[item], condition
        first.setdefault(item, condition)


def _perhaps_fillers(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Items with one condition only beside items with several, which are rather fillers."""
    cells = _cells(sentences).drop_duplicates(["item", "condition"])
    n_conditions = cells.groupby("item")["condition"].transform("size")
    varied = set(cells["condition"][n_conditions > 1])
    single = cells[(n_conditions == 1) & ~cells["condition"].isin(varied)]
    if not varied or single.empty:
        return
    first, items = single.iloc[0], single["item"].unique()
    verb = "has" if len(items) == 1 else "have"
    message = (
        f"{plural(len(items), 'item')} {verb} only condition {first['condition']!r}, which no item with "
        "several conditions has. If they are fillers, name the column that marks them: --map filler=COLUMN."
    )
    yield Finding("warning", "perhaps_fillers", message, first["file"], first["row"], tuple(items))


def _stray(sentences: pd.DataFrame) -> Iterator[Finding]:
    columns = (sentences[name].tolist() for name in ("sentence_id", "text", "context", "file", "row"))
    for name, text, context, file, row in zip(*columns, strict=True):
        for code, severity, description in stray_characters(text):
            yield Finding(severity, code, f"sentence {name} has {description}.", file, row, (name,))
        for code, severity, description in stray_characters(_LINE_END.sub(" ", context)) if context else ():
            message = f"the context of sentence {name} has {description}."
            yield Finding(severity, code, message, file, row, (name,))


def _control_in_names(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Control characters in names, levels and further columns, which files of a release repeat."""
    texts = json.dumps([[sentences[name].unique().tolist() for name in _NAMES], *_dicts(sentences)])
    if not _ESCAPED_CONTROL.search(texts):  # a fast no for large files
        return
    _, pattern, description = STRAY["control"]
    for row in _records(sentences):
        named = {name: row[name] for name in _NAMES}
        for name, cell in {**named, **row["factors"], **row["attributes"]}.items():
            if pattern.search(name) or pattern.search(str(cell)):
                message = f"column {name!r} of sentence {row['sentence_id']!r} has {description}."
                yield Finding("error", "control", message, row["file"], row["row"], (row["sentence_id"],))


def _dicts(sentences: pd.DataFrame) -> list[list[dict[str, Any]]]:
    return [[cells for cells in sentences[name] if cells] for name in ("factors", "attributes")]


_ESCAPED_CONTROL = re.compile(r"\\u00[01]|\\[bfr]|\x7f")
_NAMES = ("sentence_id", "item", "condition", "paradigm", "phenomenon", "critical_region", "mark")


def _quote_styles(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Straight quotation marks in some sentences, curly ones in others."""
    styles = pd.Series([quote_style(text) for text in sentences["text"]], index=sentences.index)
    counts = styles.value_counts()
    if {"straight", "curly"} <= set(counts.index):
        rarer = "curly" if counts["curly"] <= counts["straight"] else "straight"
        ids = tuple(sentences["sentence_id"][styles == rarer])
        message = f"{counts['straight']} sentences have straight, {counts['curly']} curly quotation marks."
        yield Finding("note", "quote_styles", message, ids=ids)


def _long_texts(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Texts longer than a screen, and words that no line holds."""
    columns = (sentences[name].tolist() for name in ("sentence_id", "text", "file", "row"))
    for name, text, file, row in zip(*columns, strict=True):
        if len(text) > LONG_TEXT:
            message = f"sentence {name} has {len(text)} characters, more than {LONG_TEXT}."
            yield Finding("warning", "long_text", message, file, row, (name,))
        if len(text) <= LONG_WORD:
            continue
        longest = max(text.split(), key=len, default="")
        # Scripts without spaces have no words to count here.
        if len(longest) > LONG_WORD and not SPACELESS_SCRIPTS.search(longest):
            message = f"sentence {name} has a word of {len(longest)} letters: {longest[:20]!r}…."
            yield Finding("warning", "long_word", message, file, row, (name,))


def _find_judgment_marks(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Marks of acceptability before sentences, as in articles: participants would see what to answer."""
    marked = sentences[sentences["text"].str.match(_JUDGMENT_MARK)]
    if not len(marked):
        return
    marks = sorted({str(mark) for mark in marked["text"].str.extract(_JUDGMENT_MARK)[0]})
    ids, first = tuple(marked["sentence_id"]), marked.iloc[0]
    message = (
        f"{plural(len(marked), 'sentence begins', 'sentences begin')} with a mark of acceptability "
        f"({' '.join(marks)}), which participants would see and models would read: delete it in the file, or "
        "move it to a column mark."
    )
    yield Finding("warning", "judgment_mark", message, first["file"], first["row"], ids)


def _find_unlabelled(sentences: pd.DataFrame) -> Iterator[Finding]:
    targets = sentences[~sentences["is_filler"].astype(bool)]
    ids = tuple(targets["sentence_id"][targets["expected"] == ""])
    if ids:
        message = f"{len(ids)} sentences have no expected status; no pairs are formed with them."
        yield Finding("note", "no_expected_status", message, ids=ids)


def _groups_differ(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Paradigms under several phenomena, items in several paradigms."""
    for inner, outer in (("paradigm", "phenomenon"), ("item", "paradigm")):
        grouped = sentences[(sentences[inner] != "") & (sentences[outer] != "")]
        groups = grouped.drop_duplicates([inner, outer])
        seconds = groups[groups[inner].duplicated()]
        if seconds.empty:
            continue
        first = _records(seconds)[0]
        names = tuple(seconds[inner].drop_duplicates())
        pair = groups[groups[inner] == first[inner]][outer].tolist()
        message = (
            f"{plural(len(names), inner)} stand under more than one {outer}, such as {first[inner]!r} under "
            f"{pair[0]!r} and {pair[1]!r}."
        )
        if inner == "paradigm":
            message += (
                " Are they numbered anew in each phenomenon? Then let them be named phenomenon:paradigm "
                f"({pair[0]}:{first[inner]}, {pair[1]}:{first[inner]}): tick the box on the page, or give "
                "--split-paradigms (--map paradigm=phenomenon+paradigm for judgments)."
            )
        yield Finding("error", "two_groups", message, first["file"], first["row"], names)


def _identical_members(pairs: pd.DataFrame) -> Iterator[Finding]:
    """Pairs of one sentence twice; only a note where the source has discarded the pair."""
    same = pairs[pairs["good"] == pairs["bad"]]
    for row in _records(same[_has_text(same["good"])]):
        message = f"both members of pair {row['pair_id']} read {row['good'].rpartition(_BETWEEN)[2]!r}"
        place = (row["file"], row["row"], (row["pair_id"],))
        if row["discard"]:
            yield Finding("note", "identical_discarded", f"{message} (marked as discarded).", *place)
        else:
            yield Finding("warning", "identical_members", f"{message}.", *place)


def _same_id(pairs: pd.DataFrame) -> Iterator[Finding]:
    for row in _records(pairs[pairs["good_id"] == pairs["bad_id"]]):
        message = f"pair {row['pair_id']} has the sentence {row['good_id']} twice."
        yield Finding("error", "one_sentence_pair", message, row["file"], row["row"], (row["pair_id"],))


def _duplicate_pairs(pairs: pd.DataFrame) -> Iterator[Finding]:
    repeated = pairs[pairs.duplicated(["good", "bad"], keep=False)]
    repeated = repeated[_has_text(repeated["good"])]
    for _, rows in repeated.groupby(["good", "bad"], sort=False):
        ids, second = tuple(rows["pair_id"]), rows.iloc[1]
        message = f"{len(ids)} pairs have the same two sentences: {', '.join(ids[:4])}."
        yield Finding("warning", "duplicate_pair", message, second["file"], second["row"], ids)


def _find_unpaired(sentences: pd.DataFrame, pairs: pd.DataFrame) -> Iterator[Finding]:
    """Sentences with an expected status that are in no pair."""
    if pairs.empty:
        yield Finding("note", "no_pairs", "the set has no minimal pair: its sentences can only be rated.")
        return
    labelled = sentences[(sentences["expected"] != "") & ~sentences["is_filler"].astype(bool)]
    paired = set(pairs["good_id"]) | set(pairs["bad_id"])
    for row in _records(labelled[~labelled["sentence_id"].isin(paired)]):
        message = f"sentence {row['sentence_id']} is in no pair: its item has no counterpart."
        yield Finding("warning", "unpaired", message, row["file"], row["row"], (row["sentence_id"],))


def _markup(sentences: pd.DataFrame) -> Iterator[Finding]:
    """Tags without declared markup, and unknown values of the column ``markup``."""
    columns = (sentences[name].tolist() for name in ("attributes", "text", "file", "row", "sentence_id"))
    for attributes, text, file, row, name in zip(*columns, strict=True):
        declared = declared_markup(attributes)
        if declared not in {"", INLINE}:
            message = f"column {COLUMN!r}: {declared!r} is unknown; write {INLINE} or leave it empty."
            yield Finding("error", "markup_unknown", message, file, row, (name,))
        elif declared and nesting(text) > MOST_NESTED:
            message = f"more than {MOST_NESTED} tags are nested in each other; close them, such as </b>."
            yield Finding("error", "markup_deep", message, file, row, (name,))
        elif not declared and has_tags(text):
            message = f"tags are shown as typed; a column {COLUMN!r} with {INLINE!r} makes them markup."
            yield Finding("note", "tags_shown", message, file, row, (name,))


_SENTENCE_CHECKS: tuple[Callable[[pd.DataFrame], Iterator[Finding]], ...] = (
    _too_long,
    _groups_differ,
    _duplicate_cells,
    _holes,
    _perhaps_fillers,
    _same_string,
    _stray,
    _find_judgment_marks,
    _control_in_names,
    _quote_styles,
    _long_texts,
    _find_unlabelled,
    _markup,
)
_PAIR_CHECKS: tuple[Callable[[pd.DataFrame], Iterator[Finding]], ...] = (
    _pair_ids_too_long,
    _same_id,
    _identical_members,
    _duplicate_pairs,
)
