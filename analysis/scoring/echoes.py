"""What a server echoes of a prompt: each token with its log probability, read back into a sentence's own."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput


class Echo(NamedTuple):
    """A sentence's tokens as the server sees them; ``left_out`` of the first have no probability."""

    logprob: npt.NDArray[np.float64]
    spans: list[tuple[int, int]]
    left_out: int
    pieces: tuple[str, ...] = ()


def check_echoes(answer: dict[str, Any], n: int, *, server: str) -> list[dict[str, Any]]:
    """Give the echo of each prompt, in the order they were sent.

    Parameters
    ----------
    answer : dict
        What the server said.
    n : int
        How many prompts were sent.
    server : str
        Its address, for messages.

    Returns
    -------
    list of dict
        ``tokens``, ``token_logprobs`` and perhaps ``text_offset`` of each.

    Raises
    ------
    BadInput
        If log probabilities are lacking.
    """
    choices = sorted(answer.get("choices", []), key=lambda one: one.get("index", 0))
    said = [one.get("logprobs") or {} for one in choices]
    if len(said) != n or not all(
        one.get("tokens") and len(one.get("token_logprobs") or []) == len(one["tokens"]) for one in said
    ):
        raise BadInput(
            "the server gives no log probabilities of the prompt.",
            file=server,
            remedy="It has to support echo and logprobs of completions; chat models do not.",
        )
    return said


def text_offsets(said: dict[str, Any], prompt: str, *, server: str) -> list[int]:
    """Say where each token begins in the prompt.

    Parameters
    ----------
    said : dict
        One echo.
    prompt : str
        What was sent.
    server : str
        Its address, for messages.

    Returns
    -------
    list of int
        The server's own offsets, or the tokens' lengths added up.

    Raises
    ------
    BadInput
        If there are no offsets and what is echoed is not what was sent.
    """
    if said.get("text_offset"):
        return [int(offset) for offset in said["text_offset"]]
    if not "".join(said["tokens"]).startswith(prompt):
        raise BadInput(
            f"the server echoes another text than {prompt[:40]!r} and no offsets.",
            file=server,
            remedy="Give tokenizer=NAME, so that numbers of tokens are sent.",
        )
    return [int(end) for end in np.cumsum([0, *map(len, said["tokens"])])[:-1]]


def read_echo(
    said: dict[str, Any], offsets: Sequence[int], *, before: int, shift: int, until: int, server: str
) -> Echo:
    """Keep the tokens that begin inside the sentence, not those before it or generated after it.

    Parameters
    ----------
    said : dict
        One echo.
    offsets : sequence of int
        Where each token begins.
    before, until : int
        From where to where the sentence's tokens may begin.
    shift : int
        Where the sentence itself begins; spans count from there.
    server : str
        Its address, for messages.

    Returns
    -------
    Echo

    Raises
    ------
    BadInput
        If a token but the first of the prompt has no probability.
    """
    rows: list[float] = []
    spans: list[tuple[int, int]] = []
    pieces: list[str] = []
    left_out, ends = 0, [*offsets[1:], until]
    for place, (offset, end, piece, logprob) in enumerate(
        zip(offsets, ends, said["tokens"], said["token_logprobs"], strict=False)
    ):
        if not before <= offset < until:
            continue
        if logprob is None and place:
            raise BadInput(
                f"the server gives token {place + 1} of a prompt no probability.",
                file=server,
                remedy="Switch its cache of prefixes off (vLLM: --no-enable-prefix-caching).",
            )
        pieces.append(piece)
        if logprob is None:
            left_out += 1
        else:
            rows.append(float(logprob))
            spans.append((max(0, offset - shift), max(0, min(end, until) - shift)))
    return Echo(np.array(rows, dtype=np.float64), spans, left_out, tuple(pieces))
