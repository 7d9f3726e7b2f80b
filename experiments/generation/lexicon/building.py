"""Freeze the forms of a lexicon: overrides first, then lemminflect, which only this step needs."""

import csv
import hashlib
import importlib
import io
import os
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

from analysis.errors import BadInput
from experiments.generation.lexicon.columns import expected_forms
from experiments.generation.lexicon.reading import (
    FORM_COLUMNS,
    FROZEN,
    OVERRIDES,
    Lexeme,
    decode_csv,
    is_inflected,
    read_forms,
    read_rows,
    source_files,
)

BUILD = "build.toml"
TAGS = {"pl": "NNS", "s": "VBZ", "past": "VBD", "participle": "VBN", "ing": "VBG"}
Inflect = Callable[[str, str], str]


def lemminflect_inflector() -> Inflect:
    """Return lemminflect's first answer as a function of lemma and tag."""
    try:
        module = importlib.import_module("lemminflect")
    except ImportError as error:
        raise BadInput(
            "lemminflect is not installed; it inflects the words that have no override.",
            remedy="Install it with pip install lemminflect. Generation itself does not need it.",
        ) from error

    def inflect(lemma: str, tag: str) -> str:
        answers = module.getInflection(lemma, tag)
        return answers[0] if answers else ""

    return inflect


def inflect_lemma(lemma: str, category: str, key: str, inflect: Inflect) -> str:
    """Return a form of a lemma, whose head is the first word of a verb and the last word of a noun.

    Examples
    --------
    >>> inflect_lemma("rely on", "verb", "s", lambda word, tag: word.replace("y", "ies"))
    'relies on'
    """
    words = lemma.split(" ")
    head = 0 if category == "verb" else -1
    words[head] = inflect(words[head], TAGS[key])
    return " ".join(words) if words[head] else ""


def source_hash(folder: Path) -> str:
    """Return the hash of the rows and overrides that forms are frozen from."""
    digest = hashlib.sha256()
    for path in [*source_files(folder), folder / OVERRIDES]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def build_forms(
    row: Lexeme, overrides: Mapping[str, str], inflect: Inflect, *, inflected_language: bool = True
) -> dict[str, tuple[str, str]]:
    """Return the forms of a lexeme by key, each with its source."""
    forms = {key: (form, "override") for key, form in overrides.items()}
    for key in expected_forms(row.category, row.features, inflected=inflected_language):
        if key in forms:
            continue
        if (
            key not in TAGS
            or "same_form" in row.features.get("count", ())
            or "plural_only" in row.features.get("count", ())
        ):
            forms[key] = (row.lemma, "lemma")
        else:
            forms[key] = (inflect_lemma(row.lemma, row.category, key, inflect), "lemminflect")
    if not forms or not all(form for form, _ in forms.values()):
        missing = next((key for key, (form, _) in forms.items() if not form), "all forms")
        raise BadInput(
            f"no form {missing!r} of {row.lemma!r}.",
            file=row.file,
            row=row.row,
            column="lemma",
            remedy=f"Add it to {OVERRIDES}.",
        )
    return forms


def frozen_table(folder: Path, inflect: Inflect) -> str:
    """Return the content of the table of frozen forms, one line a form."""
    overrides = read_forms(decode_csv((folder / OVERRIDES).read_bytes(), file=OVERRIDES), file=OVERRIDES)
    lines: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    has_forms = is_inflected(folder)
    for path in source_files(folder):
        for row in read_rows(decode_csv(path.read_bytes(), file=path.name), file=path.name):
            word = (row.lemma, row.category)
            lines.setdefault(word, {}).update(
                build_forms(row, overrides.get(word, {}), inflect, inflected_language=has_forms)
            )
    unused = [word for word in overrides if word not in lines]
    if unused:
        raise BadInput(
            f"{unused[0][0]!r} is no {unused[0][1]} of the lexicon.",
            file=OVERRIDES,
            column="lemma",
            remedy="Add its row or delete its overrides.",
        )
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow((*FORM_COLUMNS, "source"))
    for (lemma, category), forms in sorted(lines.items()):
        for key, (form, source) in forms.items():
            writer.writerow((lemma, category, key, form, source))
    return table.getvalue()


def build(folder: Path, inflect: Inflect | None = None, *, tool: str = "") -> int:
    """Write the frozen forms of a language's folder and return how many there are."""
    if inflect is None and is_inflected(folder):
        inflect, tool = lemminflect_inflector(), f"lemminflect {version('lemminflect')}"
    table = frozen_table(folder, inflect or (lambda lemma, tag: lemma))
    record = (
        f'tool = "{tool}"\nsources = "{source_hash(folder)}"\n'
        f'frozen = "{hashlib.sha256(table.encode()).hexdigest()}"\nforms = {table.count(chr(10)) - 1}\n'
    )
    for path, content in ((folder / FROZEN, table), (folder / BUILD, record)):
        temporary = path.with_name(f"{path.name}.new")
        temporary.write_text(content, encoding="utf-8", newline="")
        os.replace(temporary, path)
    return table.count("\n") - 1
