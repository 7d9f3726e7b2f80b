"""Output shared by commands: streams, JSON, progress, and options of several reports."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from ..choices import CORRECTION_NAMES, ZEROS
from ..text import plural

OUTLIERS_HELP = (
    "response times that are left out: limits in ms, a spread of log times by participant, or both, such as "
    "200-10000, 2.5sd or 200-10000,3mad; by default none"
)


class CommandOutput:
    """Base of all commands: prints to ``stdout`` and ``stderr``, whose ``write`` ends a line."""

    stdout: Any
    stderr: Any

    def print_json(self, document: Any) -> None:
        """Print one JSON document; undefined numbers must be null already."""
        self.stdout.write(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))

    def wants_progress(self, options: dict[str, Any]) -> bool:
        """Whether to show a progress bar: on a terminal, unless JSON was requested."""
        return sys.stderr.isatty() and not options.get("json")


def select_options(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """The named options."""
    return {name: options[name] for name in names}


def add_correction(parser: ArgumentParser) -> None:
    """Add the choice of the correction for several tests."""
    parser.add_argument(
        "--correction",
        choices=CORRECTION_NAMES,
        default="holm",
        help="for several tests: holm, or bh (Benjamini-Hochberg); the JSON has both",
    )


def add_sesoi(parser: ArgumentParser) -> None:
    """Add the smallest effect of interest."""
    parser.add_argument(
        "--sesoi",
        type=float,
        metavar="EFFECT",
        help="smallest effect of interest, for a test of equivalence of every contrast: a difference of "
        "ratings on the transform's scale or of shares of yes, or of the share of choices from one half",
    )


def add_zeros(parser: ArgumentParser) -> None:
    """Add the choice about magnitude estimates of zero."""
    parser.add_argument(
        "--zeros",
        choices=ZEROS,
        default="keep",
        help="magnitude estimates of zero in raw numbers and z; logarithms never have them",
    )


def magnitudes_line(magnitudes: dict[str, Any]) -> str:
    """Say how many magnitude estimates are zero or negative, and what became of them."""
    return (
        f"{plural(magnitudes['zeros'], 'estimate')} of zero by "
        f"{plural(magnitudes['zero_participants'], 'participant')}: {magnitudes['zeros_are']}; "
        f"{magnitudes['negative']} negative: left out"
    )
