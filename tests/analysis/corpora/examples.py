"""Hand-made sentences of ``examples.txt``, as lines of CoNLL-U."""

from pathlib import Path


def examples():
    """Give ``(filter, whether it goes, sentence as written)`` of every example."""
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, sign, written = line.split(" ", 2)
            yield name, sign == "-", written


def rows(written):
    """Lines of CoNLL-U of a sentence written as ``FORM/LEMMA/UPOS/HEAD/DEPREL`` a word."""
    for number, word in enumerate(written.split(), start=1):
        form, lemma, upos, head, deprel, *feats = word.split("/")
        yield "\t".join([str(number), form, lemma, upos, "_", *(feats or ["_"]), head, deprel, "_", "_"])
