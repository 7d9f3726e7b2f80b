"""Files of paradigms: slots, frames and one contrast, read from TOML and checked against the lexicon."""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from analysis.errors import BadInput
from experiments.generation.lexicon import Lexicon, read_lexicon
from experiments.generation.paradigms.language import (
    Language,
    ParadigmError,
    checked_keys,
    parse_toml,
    read_language,
    read_toml,
    unknown,
)
from experiments.generation.paradigms.realization import MARKS
from experiments.generation.paradigms.templates import Place, Template, places, read_template

FOLDER = Path(__file__).parent
PHRASES = FOLDER.parent / "phrases"
#: BLiMP's phenomena, then CLiMP's further ones.
PHENOMENA = (
    "anaphor_agreement",
    "argument_structure",
    "binding",
    "control_raising",
    "determiner_noun_agreement",
    "ellipsis",
    "filler_gap_dependency",
    "irregular_forms",
    "island_effects",
    "npi_licensing",
    "quantifiers",
    "subject_verb_agreement",
    "ba_construction",
    "classifier",
    "coverb",
    "head_final_clause",
    "passive",
    "verb_complement",
)
FIELDS = ("morphology", "syntax", "semantics", "syntax_semantics")
REQUIRED = ("format", "uid", "language", "phenomenon", "field", "definition")
KEYS = (
    *REQUIRED,
    *("title", "counterpart", "source", "note", "variety", "own"),
    *("methods", "draw", "slots", "frames", "contrast", "limits"),
)
SOURCES = ("category", "words", "copy", "use")
SLOT_KEYS = (*SOURCES, "where", "form", "fits", "differ", "after", "optional", "weight")
FRAME_KEYS = ("name", "when", "good", "slots", "contrast")
CONTRASTS = ("form", "replace", "exchange", "order", "template")
CONTRAST_KEYS = (*CONTRASTS, "selection", "reason", "edits")
METHOD_KEYS = ("one_prefix", "two_prefix", "lexically_identical", "target")
REPLACEMENT_KEYS = ("where", "words", "category", "form")
USE_KEYS = ("use", "form", "where", "fits", "differ", "after")
LIMIT_KEYS = ("share", "length", "marks_differ")
VARIABLE = re.compile(r"!?\$(\w+)")
MAX_SLOTS, MAX_VARIANTS = 60, 400
#: Frames as written, and combinations of the variables' values; each combination is drawn for each frame.
MAX_FRAMES, MAX_COMBINATIONS = 40, 500
Condition = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Slot:
    """One place of a template and what may fill it; see the how-to page for the keys."""

    name: str
    category: str = ""
    where: tuple[Condition, ...] = ()
    words: tuple[str, ...] = ()
    copy: str = ""
    form: str = ""
    fits: tuple[tuple[str, str], ...] = ()
    differ: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    optional: float = 1.0
    weight: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def variables(self) -> set[str]:
        """Name the variables that the slot reads or binds."""
        values = [value for table in self.where for values in table.values() for value in values]
        return {name for text in (*values, self.form) for name in VARIABLE.findall(text)}

    def needs(self) -> set[str]:
        """Name the slots that are drawn before this one."""
        shared = {
            value[1:].split(".")[0]
            for table in self.where
            for values in table.values()
            for value in values
            if value.startswith("@")
        }
        return (
            {slot for slot, _ in self.fits}
            | set(self.differ)
            | set(self.after)
            | shared
            | ({self.copy} if self.copy else set())
        )


@dataclass(frozen=True)
class Contrast:
    """The one change that makes the unacceptable member.

    Parameters
    ----------
    kind : str
        form, replace, exchange, order or template.
    slots : tuple of str
        Slot that changes; two slots of an exchange.
    form : str
        The other form.
    replacement : Slot
        What stands there instead.
    selection : bool
        The replacement meets none of the selections that its slot fits.
    text : Template
        Template of an order or template contrast.
    reason : str
    edits : int
        Number of words that a template contrast changes; 0 if it is not stated.
    """

    kind: str
    slots: tuple[str, ...] = ()
    form: str = ""
    replacement: Slot | None = None
    selection: bool = False
    text: Template = ()
    reason: str = ""
    edits: int = 0

    @property
    def changes_one_word(self) -> bool:
        """Whether the two members differ in one word: another form, or another lexeme."""
        words = self.replacement.words if self.replacement else ()
        return self.kind in ("form", "replace") and not any(" " in word for word in words)


@dataclass(frozen=True)
class Frame:
    """One expansion of a frame: a template without macros, its slots in drawing order, its contrast."""

    number: int
    name: str
    good: Template
    slots: tuple[Slot, ...]
    contrast: Contrast
    when: Condition = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True)
class Paradigm:
    """A paradigm as its file states it.

    Parameters
    ----------
    uid, language, phenomenon, field, definition : str
    draw : mapping of str to tuple of str
        Variables with their values, all combinations of which take turns.
    frames : tuple of Frame
    file, sha256 : str
    """

    uid: str
    language: Language
    phenomenon: str
    field: str
    definition: str
    draw: Mapping[str, tuple[str, ...]]
    frames: tuple[Frame, ...]
    file: str
    sha256: str
    title: str = ""
    counterpart: str = ""
    source: str = ""
    note: str = ""
    variety: str = "any"
    one_prefix: bool = False
    two_prefix: bool = False
    lexically_identical: bool = False
    target: str = ""
    share: float = 0.05
    length: int = 0
    marks_differ: bool = False

    @property
    def combinations(self) -> list[dict[str, str]]:
        """Combinations of the variables' values."""
        return [
            dict(zip(self.draw, values, strict=True)) for values in itertools.product(*self.draw.values())
        ]

    @property
    def n_frames(self) -> int:
        """Number of frames as written."""
        return len({frame.number for frame in self.frames})


def shipped_paradigms(language: str = "en") -> tuple[str, ...]:
    """List the paradigms of a language that come with the platform."""
    folder = FOLDER / language
    return tuple(sorted(path.stem for path in folder.glob("*.toml"))) if language.isalpha() else ()


def find_paradigm(name: str, *, language: str = "en", lexicon: Lexicon | None = None) -> Paradigm:
    """Read a shipped paradigm by its name, or any by the path of its file."""
    if name.endswith(".toml"):
        return read_paradigm(name, lexicon=lexicon)
    if name not in shipped_paradigms(language):
        raise unknown("paradigm", name, shipped_paradigms(language), code="L02")
    return read_paradigm(FOLDER / language / f"{name}.toml", lexicon=lexicon)


def read_source(name: str, *, language: str = "en") -> bytes:
    """Return the content of a shipped paradigm's file, or of any by its path; empty where there is none."""
    path = Path(name) if name.endswith(".toml") else FOLDER / language / f"{name}.toml"
    return path.read_bytes() if path.is_file() else b""


def read_paradigm(path: str | Path, *, lexicon: Lexicon | None = None) -> Paradigm:
    """Read and check a paradigm's file."""
    path = Path(path)
    document, digest = read_toml(path)
    return _check_document(document, path, lexicon, digest)


def parse_paradigm(content: bytes, *, file: str, lexicon: Lexicon | None = None) -> Paradigm:
    """Check a paradigm that is no file yet, under the name that its file would have."""
    document, digest = parse_toml(content, file=file)
    return _check_document(document, Path(file), lexicon, digest)


def _check_document(document: dict[str, Any], path: Path, lexicon: Lexicon | None, digest: str) -> Paradigm:
    try:
        return _Reader(document, path, lexicon, digest).paradigm()
    except ParadigmError as error:
        if error.file:
            raise
        raise ParadigmError(error.message, code=error.code, place=path.name, remedy=error.remedy) from error


class _Reader:
    """Reads one document; every error names the file and the table."""

    def __init__(self, document: dict[str, Any], path: Path, lexicon: Lexicon | None, digest: str) -> None:
        self.document, self.path, self.sha256 = document, path, digest
        self.n_variants = 0
        checked_keys(document, KEYS, place=path.name, kind="key")
        for key in REQUIRED:
            if key not in document:
                raise self.error("L02", f"{key} is missing.", remedy=f"Add {key} = ….")
        if document["format"] != 1:
            raise self.error("L02", f"format is {document['format']!r}.", remedy="Write format = 1.")
        self.language = read_language(str(document["language"]), path.name)
        self.lexicon = lexicon or read_lexicon(self.language.tag)
        self.macros = read_macros(self.language.tag)
        self.draw = self._draw()

    def error(self, code: str, message: str, *, table: str = "", remedy: str = "") -> ParadigmError:
        """Make an error that names file and table."""
        place = f"{self.path.name}, {table}" if table else self.path.name
        return ParadigmError(message, code=code, place=place, remedy=remedy)

    def paradigm(self) -> Paradigm:
        """Return the checked paradigm."""
        document, is_own = self.document, self.document.get("own") is True
        uid = self._text("uid")
        if uid != self.path.stem:
            raise self.error(
                "L02", f"uid is {uid!r}, the file {self.path.name}.", remedy=f"Name the file {uid}.toml."
            )
        for key, options in (("phenomenon", PHENOMENA), ("field", FIELDS)):
            if not is_own and document[key] not in options:
                raise unknown(key, str(document[key]), options, place=self.path.name, code="L02")
        methods = self._table("methods", METHOD_KEYS)
        limits = self._table("limits", LIMIT_KEYS)
        frames = self._frames()
        target = str(methods.get("target", ""))
        if target and any(target not in {slot.name for slot in frame.slots} for frame in frames):
            names = sorted({slot.name for frame in frames for slot in frame.slots})
            raise unknown("slot", target, names, place=f"{self.path.name}, methods.target", code="L03")
        return Paradigm(
            uid=uid,
            language=self.language,
            phenomenon=self._text("phenomenon"),
            field=self._text("field"),
            definition=self._text("definition"),
            draw=self.draw,
            frames=frames,
            file=self.path.name,
            sha256=self.sha256,
            **{
                key: str(document[key])
                for key in ("title", "counterpart", "source", "note", "variety")
                if key in document
            },
            one_prefix=methods.get("one_prefix", False) is True,
            two_prefix=methods.get("two_prefix", False) is True,
            lexically_identical=methods.get("lexically_identical", False) is True,
            target=target,
            share=self._limit(limits, "share", 0.05, largest=1.0),
            length=int(self._limit(limits, "length", 0, largest=100)),
            marks_differ=limits.get("marks_differ", False) is True,
        )

    def _text(self, key: str) -> str:
        value = self.document[key]
        if not isinstance(value, str) or not value.strip():
            raise self.error("L02", f"{key} is not a text.", remedy=f'Write {key} = "…".')
        return unicodedata.normalize("NFC", value.strip())

    def _table(self, key: str, options: Sequence[str]) -> dict[str, Any]:
        value = self.document.get(key, {})
        if not isinstance(value, dict):
            raise self.error("L02", f"{key} is not a table.", remedy=f"Write [{key}].")
        checked_keys(value, options, place=f"{self.path.name}, {key}", kind=f"key of {key}")
        return value

    def _limit(self, limits: dict[str, Any], key: str, default: float, *, largest: float) -> float:
        value = limits.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= largest:
            raise self.error(
                "L02", f"{key} is {value!r}.", table="limits", remedy=f"Give a number from 0 to {largest:g}."
            )
        return float(value)

    def _draw(self) -> dict[str, tuple[str, ...]]:
        domains = {}
        for name, values in _entries(self.document.get("draw", {}), "draw").items():
            domain = _texts(values)
            if len(set(domain)) < 2:
                raise self.error(
                    "L04",
                    f"${name} has {len(set(domain))} value.",
                    table=f"draw.{name}",
                    remedy="Give two or more, or write the value where it is used.",
                )
            domains[name] = tuple(dict.fromkeys(domain))
        if (n_combinations := _product(len(domain) for domain in domains.values())) > MAX_COMBINATIONS:
            raise self.error(
                "L04",
                f"{n_combinations:,} combinations of values.",
                table="draw",
                remedy=f"At most {MAX_COMBINATIONS}: give fewer variables or values.",
            )
        return domains

    # ------------------------------------------------------------------ frames

    def _frames(self) -> tuple[Frame, ...]:
        entries = self.document.get("frames", [])
        if not isinstance(entries, list) or not entries:
            raise self.error("L02", "there is no frame.", remedy="Add two tables [[frames]].")
        if len(entries) > MAX_FRAMES:
            raise self.error("L02", f"{len(entries):,} frames.", remedy=f"At most {MAX_FRAMES}.")
        frames = [
            frame for number, entry in enumerate(entries, start=1) for frame in self._expand(number, entry)
        ]
        in_use = {slot.name.split(".")[0] for frame in frames for slot in frame.slots}
        for name in self.document.get("slots", {}):
            if name not in in_use:
                raise self.error(
                    "L03", f"no frame uses the slot {name}.", table=f"slots.{name}", remedy="Delete it."
                )
        return tuple(frames)

    def _expand(self, number: int, entry: dict[str, Any]) -> list[Frame]:
        """Return a frame once for every combination of its macros' alternatives."""
        table = f"frames {number}"
        checked_keys(entry, FRAME_KEYS, place=f"{self.path.name}, {table}", kind="key of a frame")
        raw_slots = {
            **_entries(self.document.get("slots", {}), "slots"),
            **_entries(entry.get("slots", {}), f"slots of {table}"),
        }
        if len(raw_slots) > MAX_SLOTS:
            raise self.error("L03", f"{len(raw_slots)} slots.", table=table, remedy=f"At most {MAX_SLOTS}.")
        good = self._template(entry.get("good"), f"{table}.good")
        raw_contrast = entry.get("contrast", self.document.get("contrast"))
        contrast = self._contrast(raw_contrast, f"{table}.contrast" if "contrast" in entry else "contrast")
        needed = self._reachable(good, contrast, raw_slots, table)
        macros = {name: str(raw_slots[name]["use"]) for name in needed if "use" in raw_slots[name]}
        for name, macro in macros.items():
            if macro not in self.macros:
                raise unknown(
                    "macro", macro, list(self.macros), place=f"{self.path.name}, slots.{name}", code="L03"
                )
        alternatives = [range(len(self.macros[macro])) for macro in macros.values()]
        # Counted over all frames, because each variant is checked and prepared by itself.
        self.n_variants += _product(len(places) for places in alternatives)
        if self.n_variants > MAX_VARIANTS:
            raise self.error(
                "L03",
                f"{self.n_variants:,} variants so far.",
                table=table,
                remedy="Use fewer macros or frames.",
            )
        return [
            self._variant(
                number, entry, raw_slots, good, contrast, needed, dict(zip(macros, places, strict=True))
            )
            for places in itertools.product(*alternatives)
        ]

    def _reachable(
        self, good: Template, contrast: Contrast, raw_slots: dict[str, Any], table: str
    ) -> list[str]:
        """Name the slots that the templates mention, and those that these need."""
        mentioned = [place.slot for place in places((*good, *contrast.text))]
        mentioned += contrast.slots
        for name in mentioned:
            if name not in raw_slots:
                options = ", ".join(raw_slots) or "none"
                raise self.error(
                    "L03", f"{{{name}}} is no slot.", table=table, remedy=f"There are: {options}."
                )
        needed: dict[str, None] = {}
        while mentioned:
            name = mentioned.pop(0)
            if name in needed:
                continue
            if name not in raw_slots:
                raise unknown("slot", name, list(raw_slots), place=f"{self.path.name}, {table}", code="L03")
            needed[name] = None
            slot = self._slot(name, raw_slots[name], f"slots.{name}")
            mentioned += [other.split(".")[0] for other in slot.needs()]
        return [name for name in raw_slots if name in needed]

    def _variant(
        self,
        number: int,
        entry: dict[str, Any],
        raw_slots: dict[str, Any],
        good: Template,
        contrast: Contrast,
        needed: list[str],
        choices: dict[str, int],
    ) -> Frame:
        """Return one expansion: macros become templates and slots named ``slot.part``."""
        slots: dict[str, Slot] = {}
        texts: dict[str, Template] = {}
        weight = 1.0
        for name in needed:
            if name not in choices:
                slots[name] = self._slot(name, raw_slots[name], f"slots.{name}")
                continue
            alternative = self.macros[str(raw_slots[name]["use"])][choices[name]]
            weight *= alternative.weight
            texts[name], inner = self._macro_slots(name, raw_slots[name], alternative)
            slots.update(inner)
        heads = {name: f"{name}.head" for name in choices}
        slots = {name: _rename_references(slot, heads) for name, slot in slots.items()}
        contrast = replace(
            contrast,
            slots=tuple(heads.get(name, name) for name in contrast.slots),
            text=_expand_macros(contrast.text, texts),
            replacement=_rename_references(contrast.replacement, heads) if contrast.replacement else None,
        )
        good = _expand_macros(good, texts)
        ordered = self._sort_slots(slots, f"frames {number}")
        self._check_variables(ordered, contrast)
        self._check_templates(good, contrast, slots, f"frames {number}")
        return Frame(
            number=number,
            name=str(entry.get("name", f"frame {number}")),
            good=good,
            slots=ordered,
            contrast=self._complete_contrast(contrast, slots),
            when=self._when(entry.get("when", {}), f"frames {number}.when"),
            weight=weight,
        )

    def _macro_slots(
        self, name: str, raw: dict[str, Any], alternative: "Alternative"
    ) -> tuple[Template, dict[str, Slot]]:
        """Return a macro's template and slots under the name of the slot that uses it."""
        place = f"slots.{name}"
        checked_keys(raw, USE_KEYS, place=self._at(place), kind="key of a slot with use")
        outer = self._slot(name, raw, place)
        slots = {}
        for inner_name, inner in alternative.slots.items():
            filled = {key: _with_form(value, outer.form) for key, value in inner.items()}
            slot = self._slot(f"{name}.{inner_name}", filled, place)
            slot = _rename_references(slot, {other: f"{name}.{other}" for other in alternative.slots})
            if inner_name == "head":
                slot = replace(
                    slot,
                    where=tuple({**a, **b} for a in slot.where or ({},) for b in outer.where or ({},)),
                    fits=(*slot.fits, *outer.fits),
                    differ=(*slot.differ, *outer.differ),
                    after=(*slot.after, *outer.after),
                )
            slots[f"{name}.{inner_name}"] = slot
        text = tuple(
            Place(f"{name}.{part.slot}", part.form) if isinstance(part, Place) else part
            for part in alternative.text
        )
        return text, slots

    def _when(self, raw: Any, table: str) -> dict[str, tuple[str, ...]]:
        conditions = {}
        for name, values in _entries(raw, table).items():
            if name not in self.draw:
                raise unknown(
                    "variable", f"${name}", [f"${v}" for v in self.draw], place=self._at(table), code="L04"
                )
            for value in _texts(values):
                if value not in self.draw[name]:
                    raise unknown(
                        f"value of ${name}", value, self.draw[name], place=self._at(table), code="L04"
                    )
            conditions[name] = _texts(values)
        return conditions

    def _at(self, table: str) -> str:
        return f"{self.path.name}, {table}"

    # ------------------------------------------------------------------ slots

    def _slot(self, name: str, raw: Any, table: str) -> Slot:
        """Read a slot's table and check it against the lexicon."""
        if not isinstance(raw, dict):
            raise self.error("L02", "not a table.", table=table, remedy='Write { category = "…" }.')
        checked_keys(raw, SLOT_KEYS, place=self._at(table), kind="key of a slot")
        sources = [key for key in SOURCES if key in raw]
        if len(sources) != 1:
            raise self.error(
                "L02",
                f"{' and '.join(sources)} together." if sources else "nothing fills the slot.",
                table=table,
                remedy=f"Keep one of {', '.join(SOURCES)}.",
            )
        words = _texts(raw.get("words", ()))
        if "words" in raw and not all(word.strip() for word in words or ("",)):
            raise self.error("L02", "words is empty.", table=table, remedy="List a word.")
        category = str(raw.get("category", ""))
        if category and category not in self.lexicon.by_category:
            raise unknown(
                "category", category, list(self.lexicon.by_category), place=self._at(table), code="L02"
            )
        where = self._where(raw.get("where", {}), category, table)
        fits = tuple(self._fit(text, table) for text in _texts(raw.get("fits", ())))
        optional = raw.get("optional", 1.0)
        if not isinstance(optional, int | float) or not 0 < optional <= 1:
            raise self.error("L02", "optional is no probability.", table=table, remedy="Write 0.5, say.")
        return Slot(
            name=name,
            category=category,
            where=where,
            words=tuple(unicodedata.normalize("NFC", word) for word in words),
            copy=str(raw.get("copy", "")),
            form=str(raw.get("form", "")),
            fits=fits,
            differ=_texts(raw.get("differ", ())),
            after=_texts(raw.get("after", ())),
            optional=float(optional),
            weight=_weights(raw.get("weight", {}), table),
        )

    def _fit(self, text: str, table: str) -> tuple[str, str]:
        slot, _, column = text.rpartition(".")
        options = [name for name, entry in self.lexicon.columns.items() if entry.kind == "selection"]
        if column not in options:
            raise unknown("column of selection", column, options, place=self._at(table), code="L02")
        return slot, column

    def _where(self, raw: Any, category: str, table: str) -> tuple[Condition, ...]:
        tables = raw if isinstance(raw, list) else [raw]
        conditions = tuple(
            {key: _texts(values) for key, values in _entries(entry, f"where of {table}").items()}
            for entry in tables
        )
        if category:
            for entry in conditions:
                for key, values in entry.items():
                    self._check_condition(key.removeprefix("!"), values, category, table)
        return tuple(entry for entry in conditions if entry)

    def _check_condition(self, column: str, values: tuple[str, ...], category: str, table: str) -> None:
        if column == "lemma":
            return
        options = [name for name, entry in self.lexicon.columns.items() if category in entry.categories]
        if column not in options:
            raise unknown(
                f"column of {category}", column, [*options, "lemma"], place=self._at(table), code="L02"
            )
        kind = self.lexicon.columns[column]
        allowed = kind.values if kind.kind == "closed" else tuple(self.lexicon.classes.parents)
        for value in values:
            plain = not VARIABLE.fullmatch(value) and not value.startswith("@")
            if plain and value != "none" and kind.kind != "text" and value not in allowed:
                raise unknown(column, value, allowed, place=self._at(table), code="L02")

    def _sort_slots(self, slots: dict[str, Slot], table: str) -> tuple[Slot, ...]:
        """Sort slots so that each is drawn after those that it needs, else as written."""
        for slot in slots.values():
            for other in slot.needs():
                if other not in slots:
                    raise unknown(
                        "slot", other, list(slots), place=self._at(f"slots.{slot.name}"), code="L03"
                    )
        sorter = TopologicalSorter({name: slot.needs() for name, slot in slots.items()})
        try:
            sorter.prepare()
        except CycleError as error:
            cycle = " → ".join(error.args[1])
            raise self.error(
                "L05",
                f"slots need each other in a circle: {cycle}.",
                table=table,
                remedy="Drop one of these.",
            ) from error
        order: list[Slot] = []
        position = {name: number for number, name in enumerate(slots)}
        ready: list[str] = []
        while sorter.is_active():
            ready = sorted([*ready, *sorter.get_ready()], key=position.__getitem__)
            name = ready.pop(0)
            order.append(slots[name])
            sorter.done(name)
        return tuple(order)

    def _check_variables(self, slots: tuple[Slot, ...], contrast: Contrast) -> None:
        bound = set(self.draw)
        for slot in slots:
            for entry in slot.where if len(slot.where) == 1 else ():
                bound |= {
                    value[1:]
                    for key, values in entry.items()
                    for value in values
                    if not key.startswith("!") and value.startswith("$")
                }
            if missing := sorted(slot.variables() - bound):
                raise self._unbound(missing[0], f"slots.{slot.name}")
        replaced = contrast.replacement.variables() if contrast.replacement else set[str]()
        if missing := sorted((replaced | set(VARIABLE.findall(contrast.form))) - bound):
            raise self._unbound(missing[0], "contrast")

    def _unbound(self, name: str, table: str) -> ParadigmError:
        return self.error(
            "L04", f"${name} is never bound.", table=table, remedy="Add it to [draw] or bind it in where."
        )

    # ------------------------------------------------------------------ contrast and templates

    def _contrast(self, raw: Any, table: str) -> Contrast:
        if not isinstance(raw, dict):
            raise self.error("L07", "there is no contrast.", table=table, remedy="Add [contrast].")
        checked_keys(raw, CONTRAST_KEYS, place=self._at(table), kind="key of a contrast")
        kinds = [key for key in CONTRASTS if key in raw]
        if len(kinds) != 1:
            raise self.error(
                "L07",
                f"{' and '.join(kinds) or 'nothing changes'}.",
                table=table,
                remedy="Keep one; a second change needs template with a reason.",
            )
        kind, value = kinds[0], raw[kinds[0]]
        if kind in ("form", "replace"):
            return self._slot_contrast(kind, value, raw.get("selection") is True, table)
        if kind == "exchange":
            if len(pair := _texts(value)) != 2:
                raise self.error("L07", "exchange takes two slots.", table=table, remedy="Name two.")
            return Contrast(kind, slots=pair)
        if kind == "template" and not raw.get("reason"):
            raise self.error("L07", "template has no reason.", table=table, remedy='Add reason = "…".')
        return Contrast(
            kind,
            text=self._template(value, f"{table}.{kind}"),
            reason=str(raw.get("reason", "")),
            edits=int(self._limit(raw, "edits", 0, largest=100)),
        )

    def _slot_contrast(self, kind: str, value: Any, selection: bool, table: str) -> Contrast:
        if not isinstance(value, dict) or len(value) != 1:
            names = ", ".join(value) if isinstance(value, dict) else repr(value)
            raise self.error(
                "L07",
                f"{kind} changes {names or 'nothing'}.",
                table=table,
                remedy="Change one slot; a second change needs template with a reason.",
            )
        ((name, change),) = value.items()
        if kind == "form":
            return Contrast(kind, slots=(name,), form=str(change))
        checked_keys(change, REPLACEMENT_KEYS, place=self._at(table), kind="key of replace")
        category = str(change.get("category", ""))
        if "words" in change:
            return Contrast(kind, slots=(name,), replacement=self._slot(name, change, table))
        if category and category not in self.lexicon.by_category:
            raise unknown("category", category, list(self.lexicon.by_category), place=self._at(table))
        replacement = Slot(
            name,
            category=category,
            where=self._where(change.get("where", {}), "", table),
            form=str(change.get("form", "")),
        )
        return Contrast(kind, slots=(name,), replacement=replacement, selection=selection)

    def _complete_contrast(self, contrast: Contrast, slots: dict[str, Slot]) -> Contrast:
        """Give the replacement the category, form and selections of the slot that it replaces."""
        if contrast.replacement is None:
            return contrast
        slot = slots[contrast.slots[0]]
        new = contrast.replacement
        if not new.words:
            new = replace(new, category=new.category or slot.category)
            for entry in new.where:
                for key, values in entry.items():
                    self._check_condition(key.removeprefix("!"), values, new.category, "contrast.replace")
        return replace(
            contrast,
            replacement=replace(
                new,
                name=slot.name,
                form=new.form or (slot.form if new.category == slot.category else ""),
                fits=slot.fits,
                differ=(slot.name, *slot.differ),
            ),
        )

    def _template(self, text: Any, table: str) -> Template:
        if not isinstance(text, str) or not text.strip():
            raise self.error("L02", "there is no text.", table=table, remedy='Write good = "…".')
        try:
            return read_template(text, marks=self.language.marks)
        except BadInput as error:
            raise self.error(
                "L15" if "mark" in error.message else "L03", error.message, table=table, remedy=error.remedy
            ) from error

    def _check_templates(
        self, good: Template, contrast: Contrast, slots: dict[str, Slot], table: str
    ) -> None:
        for place in places((*good, *contrast.text)):
            if place.slot not in slots:
                raise self.error(
                    "L03",
                    f"{{{place.slot}}} is no slot.",
                    table=table,
                    remedy=f"There are: {', '.join(slots)}.",
                )
        for name in contrast.slots:
            if name not in {place.slot for place in places(good)}:
                raise self.error(
                    "L07",
                    f"the contrast changes {name}, which the text lacks.",
                    table=table,
                    remedy=f"Write {{{name}}} in good.",
                )
        if contrast.kind == "order" and _inventory(good) != _inventory(contrast.text):
            raise self.error(
                "L12",
                "order has other words than good.",
                table=table,
                remedy="Use the same words and slots, or template with a reason.",
            )


@dataclass(frozen=True)
class Alternative:
    """One expansion of a macro: a text with slots, of which ``head`` is the one that others refer to."""

    text: Template
    slots: Mapping[str, Mapping[str, Any]]
    weight: float = 1.0


def read_macros(language: str) -> dict[str, tuple[Alternative, ...]]:
    """Read the phrases of a language: name → alternatives."""
    path = PHRASES / f"{language}.toml"
    if not path.exists():
        return {}
    document, _ = read_toml(path)
    macros: dict[str, tuple[Alternative, ...]] = {}

    def visit(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, entry in value.items():
                visit(f"{name}.{key}" if name else key, entry)
            return
        alternatives = []
        for number, entry in enumerate(value, start=1):
            place = f"{path.name}, {name} {number}"
            checked_keys(entry, ("text", "slots", "weight"), place=place, kind="key of a phrase")
            for slot in entry["slots"].values():
                checked_keys(slot, [k for k in SLOT_KEYS if k != "use"], place=place, kind="key of a slot")
            if "head" not in entry["slots"]:
                raise ParadigmError(
                    "the phrase has no head.", code="L03", place=place, remedy="Name a slot head."
                )
            text = read_template(entry["text"], marks=())
            alternatives.append(Alternative(text, entry["slots"], float(entry.get("weight", 1))))
        macros[name] = tuple(alternatives)

    visit("", document)
    return macros


def _texts(values: Any) -> tuple[str, ...]:
    """Return one text or a list of texts as a tuple."""
    texts = [values] if isinstance(values, str) else values
    if not isinstance(texts, list | tuple) or not all(isinstance(value, str) for value in texts):
        raise ParadigmError(
            f"{values!r} is neither a text nor a list of texts.", code="L02", place="", remedy="Add quotes."
        )
    return tuple(texts)


def _entries(value: Any, name: str) -> dict[str, Any]:
    """Return a table as it is, and refuse what is none."""
    if not isinstance(value, dict):
        raise ParadigmError(f"{name} is not a table: {value!r}.", code="L02", place="")
    return value


def _weights(value: Any, table: str) -> dict[str, dict[str, float]]:
    """Read preferences: column → value → factor."""
    weights = {
        column: dict(_entries(factors, f"weight of {table}"))
        for column, factors in _entries(value, f"weight of {table}").items()
    }
    for factors in weights.values():
        for factor in factors.values():
            if isinstance(factor, bool) or not isinstance(factor, int | float) or not factor > 0:
                raise ParadigmError(
                    f"the weight {factor!r} of {table} is no positive number.", code="L02", place=""
                )
    return weights


def _product(numbers: Iterable[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result


def _with_form(value: Any, form: str) -> Any:
    """Replace ``$form`` in a macro's slot by the form that its user asks for."""
    return (form or "sg") if value == "$form" else value


def _rename_references(slot: Slot, names: Mapping[str, str]) -> Slot:
    """Return a slot whose references are renamed."""

    def new(name: str) -> str:
        return names.get(name, name)

    def rename_in(value: str) -> str:
        if not value.startswith("@"):
            return value
        name, _, column = value[1:].rpartition(".")
        return f"@{new(name)}.{column}"

    return replace(
        slot,
        copy=new(slot.copy),
        fits=tuple((new(name), column) for name, column in slot.fits),
        differ=tuple(map(new, slot.differ)),
        after=tuple(map(new, slot.after)),
        where=tuple(
            {key: tuple(map(rename_in, values)) for key, values in entry.items()} for entry in slot.where
        ),
    )


def _expand_macros(template: Template, texts: Mapping[str, Template]) -> Template:
    """Replace the macros of a template by their texts."""
    parts: list[str | Place] = []
    for part in template:
        if isinstance(part, Place) and part.slot in texts:
            parts.extend(texts[part.slot])
        else:
            parts.append(part)
    return tuple(parts)


def _inventory(template: Template) -> list[str]:
    """List the words and slots of a template in alphabetical order, without marks and capitals."""
    text = "".join(f"{{{part.slot}:{part.form}}}" if isinstance(part, Place) else part for part in template)
    return sorted(re.sub(rf"[{MARKS}]", "", text).casefold().split())
