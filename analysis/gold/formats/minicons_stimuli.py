"""Sentences of a release as minicons takes them: one in each line of a text, and a table of stimuli."""

import pandas as pd

from ..writers import csv_bytes

FOLDER = "minicons"
STIMULUS_FILE = ("line", "sentence_id", "prefix", "stimulus")
LEFT_OUT_FILE = ("sentence_id", "reason")


def minicons_files(sentences: pd.DataFrame) -> dict[str, bytes]:
    """Write the folder ``minicons`` of a release.

    The result has ``sentences.txt``, the input of ``score --file`` of minicons and of
    ``minicons:…?sentences=``; ``stimuli.csv``, the same with ids, and the prefix and stimulus of
    ``conditional_score``; where a sentence is empty or has several lines, ``left_out.csv``.

    Notes
    -----
    Line *n* of the text is the row of the table with ``line`` *n*. White space at the ends of a sentence is
    removed, as minicons does when it reads a file. The lines have no contexts: a sentence with a context is
    scored by ``conditional_score(prefix, stimuli)``.

    References
    ----------
    Misra (2022), "minicons", arXiv:2203.13112.
    """
    texts = sentences["sentence"].fillna("").astype(str).str.strip()
    n_lines = texts.map(lambda text: len(text.splitlines()))
    prefixes = (
        sentences["context"].fillna("").astype(str).str.strip() if "context" in sentences.columns else ""
    )
    stimuli = sentences.assign(stimulus=texts, prefix=prefixes)[n_lines == 1]
    stimuli = stimuli.assign(line=range(1, len(stimuli) + 1))
    reasons = n_lines.map(lambda n: "the sentence is empty" if n == 0 else "the sentence has several lines")
    left_out = sentences.assign(reason=reasons)[n_lines != 1]
    files = {
        f"{FOLDER}/sentences.txt": "".join(f"{text}\n" for text in stimuli["stimulus"]).encode(),
        f"{FOLDER}/stimuli.csv": csv_bytes(stimuli, STIMULUS_FILE),
    }
    return files | ({f"{FOLDER}/left_out.csv": csv_bytes(left_out, LEFT_OUT_FILE)} if len(left_out) else {})
