"""Tables of lemma, form and features: UD features, UniMorph tags, or the words of a treebank."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from analysis.corpora.conllu import features, read_conllu
from analysis.errors import BadInput

Features = Mapping[str, frozenset[str]]
Bundled = tuple[str, frozenset[str]]
#: Parts of speech that tables do not distinguish, and UniMorph's names of them.
CLASSES = {
    "VERB": "V", "AUX": "V", "V": "V", "V.PTCP": "V", "V.CVB": "V", "V.MSDR": "V",
    "NOUN": "N", "PROPN": "N", "N": "N",
    "PRON": "D", "DET": "D", "PRO": "D", "ART": "D",
    "ADJ": "ADJ",
}  # fmt: skip
LEMMA, FORM, FEATS, UPOS = "lemma", "form", "features", "upos"
HEADINGS = {
    "lemma": LEMMA, "form": FORM, "word": FORM, "features": FEATS, "feats": FEATS, "tags": FEATS,
    "bundle": FEATS, "upos": UPOS, "pos": UPOS, "category": UPOS,
}  # fmt: skip
UNIMORPH_POS = {"V.PTCP": "Part", "V.CVB": "Conv", "V.MSDR": "Vnoun"}
UNIMORPH = {
    name.upper(): (feature, value)
    for feature, names in {
        "Number": "SG=Sing PL=Plur DU=Dual",
        "Person": "1=1 2=2 3=3",
        "Gender": "MASC=Masc FEM=Fem NEUT=Neut",
        "Animacy": "ANIM=Anim INAN=Inan HUM=Hum NHUM=Nhum",
        "Tense": "PRS=Pres PST=Past FUT=Fut",
        "Mood": "IND=Ind SBJV=Sub COND=Cnd IMP=Imp OPT=Opt POT=Pot",
        "Aspect": "PFV=Perf IPFV=Imp PROG=Prog HAB=Hab PRF=Perf",
        "Voice": "ACT=Act PASS=Pass MID=Mid",
        "VerbForm": "FIN=Fin NFIN=Inf",
        "Definite": "DEF=Def INDF=Ind",
        "Degree": "CMPR=Cmp SPRL=Sup",
        "Polarity": "POS=Pos NEG=Neg",
        "Case": "NOM=Nom ACC=Acc GEN=Gen DAT=Dat INS=Ins VOC=Voc ABL=Abl ERG=Erg ABS=Abs PRT=Par TRANS=Tra "
        "COM=Com ESS=Ess",
    }.items()
    for name, value in (pair.split("=") for pair in names.split())
}
DOTTED = ("tr", "az")  # I and ı, İ and i are the two letters
# Marks that are written or left out of the same word: vowels of Hebrew and Arabic, kashida, Cyrillic stress.
OPTIONAL_MARKS = (range(0x0591, 0x05C8), range(0x0610, 0x061B), range(0x064B, 0x0653), (0x0640, 0x0670))


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of a table: a form and what it realizes."""

    form: str
    category: str
    features: Features
    file: str
    row: int


@dataclass
class InflectionTable:
    """The cells of the lemmas that are needed.

    Parameters
    ----------
    cells : dict of str to list of Cell
        By lemma, folded.
    by_features : dict
        The same by lemma, class and features: several where they conflict.
    rows : int
        Rows read, also those of lemmas that are not needed.
    conflicts : list of str
        Cells with two forms: the row of the second one.
    """

    cells: dict[str, list[Cell]] = field(default_factory=dict)
    by_features: dict[tuple[str, str, frozenset[Bundled]], list[Cell]] = field(default_factory=dict)
    rows: int = 0
    conflicts: list[str] = field(default_factory=list)

    def of(self, lemma: str, category: str) -> list[Cell]:
        """Return the cells of a lemma in a class of parts of speech."""
        return [cell for cell in self.cells.get(lemma, ()) if cell.category in ("", category)]


def fold(text: str, language: str = "") -> str:
    """Return a word as it is compared: composed, in lower case.

    Examples
    --------
    >>> fold("Isındı", "tr")
    'ısındı'
    """
    if language in DOTTED:
        text = text.replace("I", "ı").replace("İ", "i")
    return unicodedata.normalize("NFC", text).lower()


def without_marks(form: str) -> str:
    """Return a form without the marks that writers may leave out.

    Examples
    --------
    >>> without_marks("كَتَبَ") == "كتب", without_marks("cantó")
    (True, 'cantó')
    """
    decomposed = unicodedata.normalize("NFD", form)
    characters = []
    base = ""
    for character in decomposed:
        is_mark = any(ord(character) in marks for marks in OPTIONAL_MARKS)
        is_stress = character in "\u0300\u0301" and "\u0400" <= base <= "\u04ff"
        if not is_mark and not is_stress:
            characters.append(character)
        if not unicodedata.combining(character):
            base = character
    return unicodedata.normalize("NFC", "".join(characters))


def read_inflections(
    paths: Collection[Path], *, lemmas: Collection[str], language: str = ""
) -> InflectionTable:
    """Read the tables and keep the cells of some lemmas; every row is checked."""
    table = InflectionTable()
    for path in paths:
        if not path.is_file():
            raise BadInput("there is no such file.", file=str(path))
        before = table.rows
        read = _conllu_cells if path.suffix.lower() == ".conllu" else _table_cells
        for lemma, cell in read(path, language):
            table.rows += 1
            if lemma in lemmas:
                _add(table, lemma, cell)
        if table.rows == before:
            raise BadInput("the table has no rows.", file=str(path), remedy="Write lemma, form, features.")
    return table


def _add(table: InflectionTable, lemma: str, cell: Cell) -> None:
    forms = table.by_features.setdefault((lemma, cell.category, frozenset(cell.features.items())), [])
    if any(other.form == cell.form for other in forms):
        return
    if forms:
        table.conflicts.append(
            f"{cell.file}, row {cell.row}: {lemma!r} has {cell.form!r}, and {forms[0].form!r} in row "
            f"{forms[0].row}, for the same features; delete one to use the cell."
        )
    forms.append(cell)
    table.cells.setdefault(lemma, []).append(cell)


def _table_cells(path: Path, language: str) -> Iterator[tuple[str, Cell]]:
    columns: dict[str, int] = {LEMMA: 0, FORM: 1, FEATS: 2}
    file = str(path)
    for row, line in _lines(path):
        cells = line.split("\t")
        if row == 1 and (header := _header(cells, file)):
            columns = header
            continue
        if len(cells) <= max(columns.values()):
            raise BadInput(
                f"{len(cells)} columns, not {max(columns.values()) + 1} or more.", file=file, row=row,
                remedy="Separate lemma, form and features by tabs.",
            )  # fmt: skip
        lemma, form = cells[columns[LEMMA]].strip(), cells[columns[FORM]].strip()
        if not lemma or not form:
            raise BadInput("the cell is empty.", file=file, row=row, column=FORM if lemma else LEMMA)
        if form in ("-", "—", "–"):  # UniMorph's sign of a form that does not exist
            continue
        try:
            category, bundle = read_bundle(cells[columns[FEATS]].strip())
        except BadInput as error:
            raise BadInput(error.message, file=file, row=row, column=FEATS, remedy=error.remedy) from error
        if UPOS in columns:
            upos = cells[columns[UPOS]].strip()
            category = CLASSES.get(upos, upos)
        yield fold(lemma, language), Cell(unicodedata.normalize("NFC", form), category, bundle, file, row)


def _header(cells: list[str], file: str) -> dict[str, int] | None:
    names = [HEADINGS.get(cell.strip().lower(), "") for cell in cells]
    if sum(bool(name) for name in names) < 2:
        return None
    columns = {name: place for place, name in enumerate(names) if name}
    missing = [name for name in (LEMMA, FORM, FEATS) if name not in columns]
    if missing:
        raise BadInput(
            f"the header has no column {missing[0]}.", file=file, row=1,
            remedy="Name the columns lemma, form, features, or leave the header out.",
        )  # fmt: skip
    return columns


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open("rb") as raw:
        for row, content in enumerate(raw, start=1):
            try:
                line = content.decode("utf-8-sig" if row == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise BadInput(
                    "the text is not UTF-8.", file=str(path), row=row, remedy="Save it as UTF-8."
                ) from error
            if "\0" in line:
                raise BadInput(
                    "the row has NUL characters, as in UTF-16.", file=str(path), row=row,
                    remedy="Save it as UTF-8.",
                )  # fmt: skip
            line = line.rstrip("\r\n")
            if line.strip() and not line.startswith("#"):
                yield row, line


def _conllu_cells(path: Path, language: str) -> Iterator[tuple[str, Cell]]:
    """Yield the words of a treebank, but no clitics, misspellings, abbreviations and foreign words."""
    for sentence in read_conllu(path):
        last_of_range = 0
        for offset, line in enumerate(sentence.lines):
            number, _, tail = line.partition("\t")
            if line.startswith("#") or "." in number:
                continue
            if "-" in number:
                last_of_range = int(number.partition("-")[2])
                continue
            form, lemma, upos, _, feats = tail.split("\t")[:5]
            bundle = features(feats)
            if int(number) <= last_of_range or not form[0].isalpha() or lemma == "_" or upos not in CLASSES:
                continue
            if bundle.keys() & {"Typo", "Abbr", "Foreign"}:
                continue
            cell = Cell(fold(form, language), CLASSES[upos], bundle, str(path), sentence.first_line + offset)
            yield fold(lemma, language), cell


@lru_cache(maxsize=65_536)
def read_bundle(text: str) -> tuple[str, Features]:
    """Read a cell of features: UD's ``VERB|Number=Sing`` or UniMorph's ``V;PRS;3;SG``.

    Examples
    --------
    >>> category, bundle = read_bundle("V;PRS;NOM(3,SG)")
    >>> category, sorted((name, *values) for name, values in bundle.items())
    ('V', [('Number', 'Sing'), ('Person', '3'), ('Tense', 'Pres')])
    """
    if "=" in text or text in ("", "_") or text in CLASSES:
        upos, _, tail = text.replace("#", "|", 1).partition("|")
        if "=" in upos or upos in ("", "_"):
            return "", features(text or "_")
        return CLASSES.get(upos, upos), features(tail or "_")
    return _unimorph(text)


def _unimorph(text: str) -> tuple[str, Features]:
    pos, *tags = (tag.strip().upper() for tag in text.split(";"))
    if not pos or not all(tags) or re.search(r"[\s|=]", text):
        raise BadInput(
            f"{text!r} is not a list of features.",
            remedy="Write Number=Sing|Person=3, or UniMorph's V;PRS;3;SG.",
        )
    bundle: dict[str, set[str]] = {}
    if pos in UNIMORPH_POS:
        bundle["VerbForm"] = {UNIMORPH_POS[pos]}
    for tag in tags:
        if tag in UNIMORPH_POS:  # V;V.PTCP;PST
            bundle["VerbForm"] = {UNIMORPH_POS[tag]}
            continue
        outer, opened, inner = tag.partition("(")
        if opened and outer == "NOM":  # agreement with the subject
            names = inner.rstrip(")").split(",")
        elif tag.startswith("ARGNO"):
            names = [tag[5:6], {"S": "SG", "P": "PL", "D": "DU"}.get(tag[6:7], tag[6:7])]
        else:
            names = [tag]
        for name in names:
            for value in name.strip("{}").replace("/", "+").split("+"):
                feature, own_value = UNIMORPH.get(value, (f"UniMorph-{value}", value))
                bundle.setdefault(feature, set()).add(own_value)
    return CLASSES.get(pos, pos), {name: frozenset(values) for name, values in bundle.items()}
