"""``manage.py lint_paradigm``: check paradigms, their slots and a sample of their pairs."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.comparison.surface_cues import SurfaceCues, sentence_words
from analysis.errors import BadInput
from analysis.files import atomic_write
from analysis.ngrams import BackoffModel, train_model
from config.commands import ContractCommand
from experiments.generation.lexicon import read_lexicon
from experiments.generation.paradigms import LintReport, lint, shipped_paradigms

ALL = "all"


class Command(ContractCommand):
    """Check paradigms."""

    help = (
        "Check paradigms: keys, slots, variables, contrast, candidates, and 1,000 pairs. Ends with status 2 "
        "if one has an error."
    )
    example = "manage.py lint_paradigm my_paradigm.toml"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "paradigms", nargs="+", metavar="PATH|UID", help=f"files or names of paradigms, or {ALL}"
        )
        parser.add_argument("--language", default="en", help="of the paradigms' names (en)")
        parser.add_argument("--n", type=int, default=1000, help="pairs to draw (1000)")
        parser.add_argument("--seed", type=int, default=0, help="of the draws (0)")
        parser.add_argument("--examples", type=int, default=5, help="pairs to print of each (5)")
        parser.add_argument(
            "--against", type=Path, metavar="FILE", help="text whose lines no pair may repeat"
        )
        parser.add_argument(
            "--corpus",
            type=Path,
            metavar="FILE",
            help="text, a sentence a line, for a unigram and a 5-gram model that judge the pairs",
        )
        parser.add_argument(
            "--figures",
            type=Path,
            metavar="FILE",
            help="write what the list of paradigms shows: possible pairs, surface cues",
        )

    def run(self, **options: Any) -> None:
        """Check each and report; errors make the status 2."""
        names = list(dict.fromkeys(options["paradigms"]))
        if ALL in names:
            names = list(shipped_paradigms(options["language"]))
        reports = []
        against, models = _lines(options["against"]), _models(options["corpus"])
        for name in names:
            with self.working(options, f"checking {name}"):
                reports.append(
                    lint(
                        name,
                        language=options["language"],
                        n=options["n"],
                        seed=options["seed"],
                        comparison=against,
                        models=models,
                    )
                )
        if options["figures"] is not None:
            content = _figures(reports, options["language"], _other_figures(options))
            with atomic_write(options["figures"]) as temporary:
                temporary.write_text(content, encoding="utf-8")
        if options["json"]:
            self.print_json({"paradigms": [report.document() for report in reports]})
        else:
            for report in reports:
                self._print(report, options["examples"])
        failed = [report.file for report in reports if not report.is_clean]
        if failed:
            raise BadInput(f"{len(failed)} of {len(reports)} paradigms have errors: {', '.join(failed)}.")

    def _print(self, report: LintReport, n_examples: int) -> None:
        verdict = "clean" if report.is_clean else "ERRORS"
        self.stdout.write(
            f"{report.file}: {verdict}, {report.n_frames} frames, {report.capacity:,} pairs possible"
        )
        for finding in report.findings:
            self.stdout.write(f"  {finding.level}: {finding}")
        if report.cues is not None:
            self.stdout.write(f"  cues: {_cue_text(report.cues)}")
        for good, bad in report.examples[:n_examples]:
            self.stdout.write(f"  {good}  /  {bad}")


def _other_figures(options: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the figures of other languages that the file has."""
    path: Path = options["figures"]
    if not path.is_file():
        return {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadInput(f"not JSON ({error}).", file=str(path), remedy="Delete the file.") from error
    return {name: row for name, row in stored.items() if not name.startswith(f"{options['language']}:")}


def _figures(reports: list[LintReport], language: str, others: dict[str, dict[str, Any]]) -> str:
    """Return the figures of clean paradigms as JSON, with the hashes of what they are about."""
    version = read_lexicon(language).version
    table = dict(others)
    for report in reports:
        if not report.is_clean or report.cues is None:
            continue
        table[f"{language}:{Path(report.file).stem}"] = {
            "sha256": report.rows[0]["paradigm_sha256"],
            "lexicon": version,
            "capacity": report.capacity,
            "words": round(report.cues.words, 3),
            "bigrams": round(report.cues.bigrams, 3),
            "characters": round(report.cues.shorter_in_characters, 3),
            "near": round(report.cues.near_duplicates, 3),
            "solved": report.cues.solved_by_words,
        }
    lines = ",\n".join(f'"{name}": {json.dumps(figures)}' for name, figures in sorted(table.items()))
    return f"{{\n{lines}\n}}\n"


def _cue_text(cues: SurfaceCues) -> str:
    """Word the accuracies of the surface cues in one line."""
    accuracies = {
        "fewer words": cues.shorter_in_words,
        "fewer characters": cues.shorter_in_characters,
        "final mark": cues.final_mark,
        "naive Bayes on words": cues.words,
        "on bigrams": cues.bigrams,
        **cues.models,
    }
    text = ", ".join(f"{name} {value:.2f}" for name, value in accuracies.items())
    solved = "; single words decide" if cues.solved_by_words else ""
    return f"{text}; overlap {cues.overlap:.2f}, near duplicates {cues.near_duplicates:.2f}{solved}"


def _models(path: Path | None) -> dict[str, BackoffModel]:
    """Train a unigram and a 5-gram model on the sentences of a text."""
    if path is None:
        return {}
    sentences = [words for line in sorted(_lines(path)) if (words := sentence_words(line))]
    if not sentences:
        raise BadInput("the text has no sentence.", file=str(path), remedy="Write one sentence a line.")
    return {name: train_model(sentences, order=order) for name, order in (("unigram", 1), ("5-gram", 5))}


def _lines(path: Path | None) -> frozenset[str]:
    """Read the sentences that no pair may repeat."""
    if path is None:
        return frozenset()
    try:
        return frozenset(path.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"not a text in UTF-8 ({error}).", file=str(path)) from error
