"""Write docs/reference/paradigms.md: ``python -m tools.manual.paradigm_tables [--text WIKITEXT…]``.

The tables have the counts and surface cues of 1,000 pairs of every paradigm, the accuracy of a 5-gram model
of the text, the share of pairs that a reader found odd (``tests/reference/paradigms_read.csv``), and
published figures. Without ``--text``, WikiText-2 of ``shared/data`` beside the project.
"""

import argparse
import csv
import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from analysis.comparison.surface_cues import sentence_words
from analysis.ngrams import BackoffModel, train_model
from benchmarks.scoring.bench_ranking import PUBLISHED, SHARED, sentences
from experiments.generation.lexicon import read_lexicon
from experiments.generation.paradigms import LintReport, Paradigm, find_paradigm, lint, shipped_paradigms

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "reference" / "paradigms.md"
READ = ROOT / "tests" / "reference" / "paradigms_read.csv"
PAIRS = 1000
#: Xiang et al. (2021), table 2, in percent: people, BERT, LSTM of 21.5 million sentences (words), 5-gram of 2
#: million (words, characters), by phenomenon.
CLIMP = {
    "anaphor_agreement": (94.5, 86.2, 63.1, 67.7, 65.8),
    "ba_construction": (85.0, 69.0, 10.0, 15.6, 30.6),
    "binding": (99.0, 50.8, 50.1, 49.6, 51.6),
    "classifier": (99.7, 92.9, 75.7, 70.1, 70.6),
    "coverb": (92.5, 87.9, 47.0, 39.2, 53.9),
    "filler_gap_dependency": (100.0, 62.4, 41.5, 40.0, 57.3),
    "head_final_clause": (100.0, 53.1, 81.4, 55.2, 68.3),
    "passive": (91.0, 67.7, 68.4, 72.0, 64.8),
    "verb_complement": (96.0, 93.0, 74.0, 71.0, 78.8),
}
HEAD = """# The paradigms

BLiMP's 67 paradigms of English and CLiMP's 16 of Mandarin, with our templates and words; drawn by
`manage.py generate`, see [Generate minimal pairs](../how-to/paradigms.md). Each gives 1,000 distinct
pairs in less than a second. This page is written by `python -m tools.manual.paradigm_tables`.

Figures of 1,000 pairs (seed 0, lexicons {versions}). *Methods*: 1 one prefix, 2 two prefixes, –
neither, = the same words. *Possible* pairs, to one digit. *Words*, *bigrams*: accuracy of naive Bayes
on four fifths of the pairs, tested on the rest; *characters*: of the rule that the shorter member is
acceptable; *5-gram*: of a Kneser–Ney model of WikiText-2's validation and test parts (462,000 tokens);
*near*: share of pairs that are another pair but for one word. Chance is .50. A **bold** figure: single
words decide, because the contrasted words differ by nature.

*Odd*: pairs of twenty whose acceptable member a speaker would not find plain (a word that does not go
with the others), or whose unacceptable member has a reading. One reader, a language
model, 23 November 2026, seed 202,
after {marked} seed 303; the lexicon had been corrected after a first reading with seed 101, and a
paradigm that was corrected once more was read again. It is no judgment of several speakers: set up [a
study](../how-to/studies.md) for that. In all {odd_en} of {read_en} pairs of English ({share_en}) and
{odd_zh} of {read_zh} of Mandarin ({share_zh}).
"""

ENGLISH = """The last figures are those published for BLiMP's own pairs (its repository; participants: the
forced choices of five pairs each).
"""
MANDARIN = """The first member of an example is segmented, as `segmentation_good` and `segmentation_bad`
have it; the sentences are written without spaces. Both members have as many characters.
"""


def models(paths: list[Path]) -> dict[str, BackoffModel]:
    """Train the 5-gram model."""
    texts = [words for path in paths for line in sentences(path) if (words := sentence_words(line))]
    return {"5-gram": train_model(texts, order=5)} if texts else {}


def methods(paradigm: Paradigm) -> str:
    """Abbreviate the methods of language models."""
    number = "1" if paradigm.one_prefix else "2" if paradigm.two_prefix else "–"
    return number + ("=" if paradigm.lexically_identical else "")


def figure(value: float) -> str:
    """Write an accuracy without its zero."""
    return f"{value:.2f}".removeprefix("0")


def possible(capacity: int) -> str:
    """Write a number to one digit."""
    power = int(math.log10(capacity))
    digit = round(capacity / 10**power)
    return f"{digit if digit < 10 else 1}·10^{power if digit < 10 else power + 1}"


def reading() -> dict[tuple[str, str], tuple[int, str]]:
    """Number of odd pairs of twenty, and how it is written."""
    with READ.open(encoding="utf-8", newline="") as lines:
        return {
            (row["language"], row["paradigm"]): (
                int(row["odd"]),
                f"{int(row['odd'])}{'*' if row['seed'] == '303' else ''}",
            )
            for row in csv.DictReader(lines)
        }


def cells(paradigm: Paradigm, report: LintReport, odd: str) -> list[str]:
    """Cells that both tables share."""
    cues = report.cues
    assert cues is not None
    words = figure(cues.words)
    five = [figure(cues.models["5-gram"])] if "5-gram" in cues.models else []
    characters = [figure(cues.shorter_in_characters)] if paradigm.language.joiner else []
    return [
        paradigm.phenomenon,
        f"`{paradigm.uid}`",
        methods(paradigm),
        str(report.n_frames),
        possible(report.capacity),
        f"**{words}**" if cues.solved_by_words else words,
        figure(cues.bigrams),
        *characters,
        *five,
        figure(cues.near_duplicates),
        odd.replace("*", "\\*"),
    ]


def table(language: str, trained: dict[str, BackoffModel]) -> Iterator[str]:
    """Rows of a language's table."""
    published = pd.read_csv(PUBLISHED, index_col="paradigm", dtype=str)
    read = reading()
    paradigms = [find_paradigm(uid, language=language) for uid in shipped_paradigms(language)]
    names = ["phenomenon", "paradigm", "methods", "frames", "possible", "words", "bigrams"]
    names += ["characters"] if language == "en" else []
    names += ["5-gram"] if trained else []
    names += ["near", "odd of 20"]
    names += ["BLiMP: 5-gram", "LSTM", "people"] if language == "en" else []
    yield row([*names, "a pair"])
    yield row(["---"] * (len(names) + 1))
    for paradigm in sorted(paradigms, key=lambda entry: (entry.phenomenon, entry.uid)):
        report = lint(paradigm.uid, language=language, n=PAIRS, models=trained)
        first = report.rows[0]
        good, bad = first["sentence_good"], first["sentence_bad"]
        extra = []
        if language == "en":
            values = published.loc[paradigm.uid]
            extra = [figure(float(values[name])) for name in ("ngram_5", "lstm", "human")]
        else:
            good = first["segmentation_good"]
        odd = read[language, paradigm.uid][1]
        yield row([*cells(paradigm, report, odd), *extra, f"{good} / \\*{bad}"])


def row(parts: list[str]) -> str:
    """A row of Markdown."""
    return f"| {' | '.join(parts)} |"


def climp_table() -> Iterator[str]:
    """CLiMP's published accuracies by phenomenon."""
    models = ["Chinese BERT", "LSTM, 21.5M, words", "5-gram, 2M, words", "5-gram, 2M, characters"]
    names = ["phenomenon", "people", *models]
    yield row(names)
    yield row(["---"] * len(names))
    for phenomenon, values in CLIMP.items():
        yield row([phenomenon, *(f"{value / 100:.3f}".removeprefix("0") for value in values)])


def counts(language: str) -> tuple[int, int, str]:
    """Odd pairs, pairs read, and their share."""
    values = [odd for (tag, _), (odd, _) in reading().items() if tag == language]
    return sum(values), 20 * len(values), f"{100 * sum(values) / (20 * len(values)):.1f} %"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text", type=Path, nargs="*")
    options = parser.parse_args()
    paths = options.text if options.text is not None else sorted((SHARED / "wikitext-2").glob("*.txt"))
    (odd_en, read_en, share_en), (odd_zh, read_zh, share_zh) = counts("en"), counts("zh")
    parts = [
        HEAD.format(
            versions=" and ".join(read_lexicon(tag).version for tag in ("en", "zh")), marked="\\*",
            odd_en=odd_en, read_en=f"{read_en:,}", share_en=share_en,
            odd_zh=odd_zh, read_zh=read_zh, share_zh=share_zh,
        ),
        "## English\n",
        ENGLISH,
        *table("en", models(paths)),
        "\n## Mandarin\n",
        MANDARIN,
        *table("zh", {}),
        "\nPublished accuracies on CLiMP's own pairs, by phenomenon (Xiang et al. 2021, table 2):\n",
        *climp_table(),
    ]  # fmt: skip
    DOCUMENT.write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
