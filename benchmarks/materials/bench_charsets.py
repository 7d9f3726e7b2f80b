"""Detection of encodings: short files that are right, refused or wrong, beside charset-normalizer."""

import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.materials.charset_files import (
    ShortFile,
    outcome_here,
    outcome_of_charset_normalizer,
    outcomes,
    translated_files,
    written_files,
)

DETECTORS = (("here", outcome_here), ("charset-normalizer", outcome_of_charset_normalizer))


def main() -> None:
    """Print a line for each encoding, and the sum."""
    files = [*written_files(), *translated_files()]
    by_codec: dict[str, list[ShortFile]] = defaultdict(list)
    for file in files:
        by_codec[file.codec].append(file)
    print(f"{'encoding':<14}{'files':>6}  " + "".join(f"{name:>22}" for name, _ in DETECTORS))
    print(" " * 22 + "right/refused/wrong   " * len(DETECTORS))
    for codec, group in [*sorted(by_codec.items()), ("all", files)]:
        print(
            f"{codec:<14}{len(group):>6}  "
            + "".join(f"{_counts(group, detect):>22}" for _, detect in DETECTORS)
        )


def _counts(files: list[ShortFile], detector: Callable[[ShortFile], str]) -> str:
    counts = outcomes(files, detector)
    return f"{counts['right']}/{counts['refused']}/{counts['wrong']}"


if __name__ == "__main__":
    main()
