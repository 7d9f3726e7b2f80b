"""CoNLL-U: read parsed sentences line by line, and write them unchanged."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..errors import BadInput

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
# Characters at which ``str.splitlines`` breaks; in a cell of CoNLL-U they do not end the line.
LINE_BREAKS = str.maketrans(dict.fromkeys("\v\f\r\x1c\x1d\x1e\x85\u2028\u2029", " "))


@dataclass(frozen=True, slots=True)
class Word:
    """One syntactic word.

    Parameters
    ----------
    form, lemma : str
        In lower case, as filters compare them.
    upos, xpos, feats, deprel : str
        As in the file.
    head : int
        Position of the head from 1; 0 for the root.
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    deprel: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """One parsed sentence.

    Parameters
    ----------
    lines : tuple of str
        Its lines in the file, comments included: what is written when the sentence is kept.
    words : tuple of Word
        Syntactic words; the parts of a multiword token count, empty nodes do not.
    first_line : int
        First line of the sentence in the file, from 1.
    """

    lines: tuple[str, ...]
    words: tuple[Word, ...]
    first_line: int = 1

    @property
    def sent_id(self) -> str:
        """The comment ``sent_id``, or the first line of the sentence in the file."""
        return self.comment("sent_id") or f"line {self.first_line}"

    @property
    def text(self) -> str:
        """The text of the sentence on one line."""
        written = self.comment("text") or "".join(
            form + ("" if "SpaceAfter=No" in misc.split("|") else " ") for form, misc in self._surface()
        )
        return written.translate(LINE_BREAKS).strip()

    @property
    def token_text(self) -> str:
        """The surface tokens with one space between: a multiword token is one token."""
        return " ".join("".join(form.split()) for form, _ in self._surface())

    def comment(self, name: str) -> str:
        """Return the value of the comment ``# name = value``, or an empty string."""
        for line in self.lines:
            if not line.startswith("#"):
                break
            key, equals, value = line[1:].partition("=")
            if equals and key.strip() == name:
                return value.strip()
        return ""

    def is_under(self, position: int, ancestor: int) -> bool:
        """Return whether the word at a position depends on another one, over any number of steps."""
        head = self.words[position - 1].head
        while head:
            if head == ancestor:
                return True
            head = self.words[head - 1].head
        return False

    def _surface(self) -> Iterator[tuple[str, str]]:
        covered = 0
        for line in self.lines:
            if line.startswith("#"):
                continue
            number, form, *columns = line.split("\t")
            if "." in number:
                continue
            first, is_range, last = number.partition("-")
            if is_range:
                covered = int(last)
            elif int(first) <= covered:
                continue
            yield form, columns[-1]


def read_conllu(path: str | Path) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file.

    Multiword tokens and empty nodes are retained in the lines of a sentence and do not count as words.

    References
    ----------
    Universal Dependencies, "CoNLL-U Format", https://universaldependencies.org/format.html
    """
    path = Path(path)
    if not path.is_file():
        raise BadInput("there is no such file.", file=str(path))
    yield from parse_conllu(_lines(path), file=str(path))


def parse_conllu(lines: Iterable[str], *, file: str = "") -> Iterator[Sentence]:
    """Parse lines of CoNLL-U.

    Examples
    --------
    >>> row = "1\\tRun\\trun\\tVERB\\tVB\\tMood=Imp\\t0\\troot\\t_\\tSpaceAfter=No"
    >>> end = "2\\t!\\t!\\tPUNCT\\t.\\t_\\t1\\tpunct\\t_\\t_"
    >>> [sentence.text for sentence in parse_conllu(["# sent_id = a", row, end])]
    ['Run!']
    """
    sentence_lines: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\r\n")
        if line.strip():
            sentence_lines.append(line)
        elif sentence_lines:
            yield _sentence(sentence_lines, number - len(sentence_lines), file)
            sentence_lines = []
    if sentence_lines:
        yield _sentence(sentence_lines, number - len(sentence_lines) + 1, file)


@lru_cache(maxsize=4096)
def features(feats: str) -> dict[str, frozenset[str]]:
    """Read the column FEATS.

    Examples
    --------
    >>> sorted(features("Case=Nom|PronType=Int,Rel")["PronType"])
    ['Int', 'Rel']
    """
    if feats == "_":
        return {}
    parts = [part.partition("=") for part in feats.split("|")]
    if not all(name and value for name, _, value in parts):
        raise BadInput(f"{feats!r} is not a list of features.", remedy="Write Name=Value|Name=Value, or _.")
    return {name: frozenset(value.split(",")) for name, _, value in parts}


def _lines(path: Path) -> Iterator[str]:
    number = 0
    with path.open("rb") as raw:
        for number, line in enumerate(raw, start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise BadInput(
                    "the text is not UTF-8.", file=str(path), row=number, remedy="Save it as UTF-8."
                ) from error


def _sentence(lines: list[str], first_line: int, file: str) -> Sentence:
    words: list[Word] = []
    places: list[int] = []
    for offset, line in enumerate(lines):
        if line.startswith("#"):
            continue
        row = first_line + offset
        word = _word(line, len(words) + 1, file, row)
        if word:
            words.append(word)
            places.append(row)
    if not words:
        raise BadInput(
            "comments without any word.", file=file, row=first_line,
            remedy="Every sentence needs words; delete the comments or add them.",
        )  # fmt: skip
    _check_tree(words, places, file)
    return Sentence(tuple(lines), tuple(words), first_line)


def _word(line: str, expected: int, file: str, row: int) -> Word | None:
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        spaced = " They seem to be separated by spaces." if len(line.split()) == len(COLUMNS) else ""
        raise BadInput(
            f"{len(cells)} columns, not ten.{spaced}", file=file, row=row,
            remedy="CoNLL-U has ten columns separated by tabs, and an empty line between sentences.",
        )  # fmt: skip
    number = cells[0]
    if "-" in number or "." in number:
        sign = "-" if "-" in number else "."
        if not all(part.isdecimal() for part in number.split(sign, 1)):
            raise BadInput(f"{number!r} is no number of a word.", file=file, row=row, column="ID")
        return None
    if number != str(expected):
        raise BadInput(
            f"{number!r} where {expected} is next.", file=file, row=row, column="ID",
            remedy="Words are numbered 1, 2, 3; separate sentences by an empty line.",
        )  # fmt: skip
    if not cells[1]:
        raise BadInput("the cell is empty.", file=file, row=row, column="FORM")
    if not cells[6].isdecimal():
        raise BadInput(
            f"{cells[6]!r} is no number of a head.", file=file, row=row, column="HEAD",
            remedy="Filters need dependencies: parse the corpus first.",
        )  # fmt: skip
    try:
        features(cells[5])
    except BadInput as error:
        raise BadInput(error.message, file=file, row=row, column="FEATS", remedy=error.remedy) from error
    lemma = cells[2] if cells[2] != "_" else cells[1]
    return Word(
        cells[1].lower(), lemma.lower(), cells[3], cells[4], cells[5], int(cells[6]), cells[7]
    )  # fmt: skip


def _check_tree(words: list[Word], places: list[int], file: str) -> None:
    sound = {0}
    for position, row in enumerate(places, start=1):
        climbed: list[int] = []
        at = position
        while at not in sound:
            if at > len(words):
                raise BadInput(
                    f"the sentence has no word {at}.", file=file, row=places[climbed[-1] - 1], column="HEAD"
                )
            if at in climbed:
                raise BadInput(f"heads run in a circle at word {at}.", file=file, row=row, column="HEAD")
            climbed.append(at)
            at = words[at - 1].head
        sound.update(climbed)
