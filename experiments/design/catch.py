"""Whether catch trials can do their work: few, like the rest to look at, with one plain right answer."""

import unicodedata
from collections.abc import Collection, Sequence

FEWEST = 2
SHORTEST, LONGEST = 0.5, 1.5  # of the targets' shortest and longest
MOST = 0.9  # a habit is what nine in ten targets keep


def catch_remarks(
    catch: Sequence[Sequence[str]],
    targets: Sequence[str],
    *,
    practice: Sequence[str] = (),
    instructions: Collection[int] = (),
) -> list[str]:
    """Say what makes catch trials stand out, or repeat what was shown.

    Parameters
    ----------
    catch : sequence of sequences of str
        The sentences of each catch trial: one, or two for pairs.
    targets : sequence of str
        Sentences of the materials, or a sample of them.
    practice : sequence of str
        Sentences of the practice trials.
    instructions : collection of int
        Places of catch trials that say themselves what to answer: they need not look like the rest.

    Returns
    -------
    list of str
        Remarks as sentences; empty when there is none.

    Notes
    -----
    Looks alike means: not half as short as the shortest target nor half as long again as the longest, counted
    in characters, and with the capital and the last sign that nine in ten targets have. Who knows the
    trick from its looks is caught by nothing; yet the content has to be plain, because honest people
    fail look-alike checks that need thought.

    Examples
    --------
    >>> catch_remarks([["Choose this one"], ["The cat slept."]], ["The dog ran.", "A man has slept."])
    ['Catch trial 1 ends unlike the other sentences.']
    """
    found = []
    if 0 < len(catch) < FEWEST:
        found.append("One catch trial decides little: an honest slip happens to everybody.")
    if not targets:
        return found
    known = {_plain(text) for text in targets}, {_plain(text) for text in practice}
    for number, texts in enumerate(catch, start=1):
        if number - 1 not in instructions:
            found += [f"Catch trial {number} {remark}" for remark in _remarks(texts, targets, known=known)]
    return found


def _remarks(texts: Sequence[str], targets: Sequence[str], *, known: tuple[set[str], set[str]]) -> list[str]:
    lengths = [len(text) for text in targets]
    low, high = SHORTEST * min(lengths), LONGEST * max(lengths)
    found = []
    if any(not low <= len(text) <= high for text in texts):
        sizes = "–".join(str(size) for size in sorted({len(text) for text in texts}))
        found.append(f"has {sizes} characters, the other sentences {min(lengths)} to {max(lengths)}.")
    if _stands_out([_end(text) for text in texts], [_end(text) for text in targets]):
        found.append("ends unlike the other sentences.")
    if _stands_out([_begin(text) for text in texts], [_begin(text) for text in targets]):
        found.append("begins unlike the other sentences.")
    if any(_plain(text) in known[0] for text in texts):
        found.append("has a sentence of the materials.")
    if any(_plain(text) in known[1] for text in texts):
        found.append("has a sentence of the practice.")
    return found


def _stands_out(own: Sequence[str], usual: Sequence[str]) -> bool:
    """Whether a habit of nearly all targets is kept by none of a trial's sentences."""
    habit = max(set(usual), key=usual.count)
    return usual.count(habit) >= MOST * len(usual) and habit not in own


def _end(text: str) -> str:
    """The last sign where it is punctuation, else a letter for all letters."""
    last = text.strip()[-1:]
    return last if unicodedata.category(last or "a").startswith("P") else "a"


def _begin(text: str) -> str:
    first = text.strip()[:1]
    return "A" if first.isupper() else "a" if first.islower() else ""


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def answer_remarks(
    answers: Sequence[tuple[float, float] | None], scale: tuple[float | None, float | None]
) -> list[str]:
    """Say which right answers are missing, off the scale, or no test at all.

    Parameters
    ----------
    answers : sequence of (low, high) or None
        The right answers of each catch trial; None where none is given.
    scale : (low, high)
        Ends of the scale, None where it has none.

    Returns
    -------
    list of str

    Examples
    --------
    >>> answer_remarks([(6, 7), (2, 7), (8, 8), None], (1, 7))[0]
    'Catch trial 2 accepts 2 to 7, more than half of the scale.'
    """
    found = []
    low, high = scale
    for number, answer in enumerate(answers, start=1):
        if answer is None:
            found.append(f"Catch trial {number} has no right answer.")
        elif (low is not None and answer[1] < low) or (high is not None and answer[0] > high):
            found.append(f"Catch trial {number} has a right answer that is not on the scale.")
        elif low is not None and high is not None and answer[1] - answer[0] > (high - low) / 2:
            span = f"{answer[0]:g} to {answer[1]:g}"
            found.append(f"Catch trial {number} accepts {span}, more than half of the scale.")
    return found
