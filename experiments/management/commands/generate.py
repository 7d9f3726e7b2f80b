"""``manage.py generate``: write minimal pairs of paradigms in BLiMP's form."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import BadInput
from analysis.files import atomic_write
from analysis.gold.writers import jsonl_bytes
from config.commands import ContractCommand
from experiments.generation.paradigms import find_paradigm, sample_pairs, shipped_paradigms

FORMATS = ("jsonl", "csv")
ALL = "all"


class Command(ContractCommand):
    """Write minimal pairs of paradigms."""

    help = (
        "Write distinct minimal pairs of paradigms, as JSON lines with BLiMP's fields. The same seed gives "
        "the same pairs, and the first of more pairs are those of fewer."
    )
    example = "manage.py generate wh_island transitive --n 1000 --seed 1 --to pairs.jsonl"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "paradigms", nargs="+", metavar="UID", help=f"names or .toml files of paradigms, or {ALL}"
        )
        parser.add_argument("--n", type=int, default=1000, help="pairs of each paradigm (1000)")
        parser.add_argument("--seed", type=int, default=0, help="of the draws (0)")
        parser.add_argument("--language", default="en", help="of the paradigms' names (en)")
        parser.add_argument("--format", choices=FORMATS, default="jsonl", help="of the file (jsonl)")
        parser.add_argument(
            "--to",
            required=True,
            type=Path,
            metavar="PATH",
            help="file for all pairs, or a folder (a path without suffix) for a file per paradigm",
        )

    def run(self, **options: Any) -> None:
        """Draw all pairs, then write them."""
        target: Path = options["to"]
        names = list(dict.fromkeys(options["paradigms"]))
        if ALL in names:
            names = list(shipped_paradigms(options["language"]))
        sets: dict[str, list[dict[str, Any]]] = {}
        for name in names:
            with self.working(options, f"drawing {name}"):
                paradigm = find_paradigm(name, language=options["language"])
                if paradigm.uid in sets:
                    raise BadInput(
                        f"two of the paradigms are named {paradigm.uid}.", remedy="Rename one of the files."
                    )
                sets[paradigm.uid] = sample_pairs(paradigm, options["n"], seed=options["seed"])
        files = _files(target, sets, options["format"], is_folder=target.is_dir() or _names_folder(options))
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as temporary:
                temporary.write_bytes(content)
        self._report(options, sets, list(files))

    def _report(
        self, options: dict[str, Any], sets: dict[str, list[dict[str, Any]]], paths: list[Path]
    ) -> None:
        if options["json"]:
            counts = {uid: len(rows) for uid, rows in sets.items()}
            self.print_json(
                {"pairs": counts, "seed": options["seed"], "files": [str(path) for path in paths]}
            )
            return
        for uid, rows in sets.items():
            self.stdout.write(
                f"{uid}: {len(rows):,} pairs, as {rows[0]['sentence_good']} / {rows[0]['sentence_bad']}"
            )


def _names_folder(options: dict[str, Any]) -> bool:
    """Whether the path is that of a folder to be made: it has no suffix."""
    return not options["to"].suffix


def _files(
    target: Path, sets: dict[str, list[dict[str, Any]]], kind: str, *, is_folder: bool
) -> dict[Path, bytes]:
    """Return the content of every file."""
    if is_folder:
        return {target / f"{uid}.{kind}": _content(rows, kind) for uid, rows in sets.items()}
    return {target: _content([row for rows in sets.values() for row in rows], kind)}


def _content(rows: list[dict[str, Any]], kind: str) -> bytes:
    if kind == "jsonl":
        return jsonl_bytes(rows)
    flat = [
        {
            name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
            for name, value in row.items()
        }
        for row in rows
    ]
    return pd.DataFrame(flat).to_csv(index=False, lineterminator="\n").encode()
