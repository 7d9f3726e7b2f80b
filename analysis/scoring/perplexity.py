"""Perplexity of a model on a text, by units that do not depend on its tokens, and its best temperature."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..errors import BadInput, NotEnoughData
from .base import FLAG_EMPTY, Progress, Scorer

Floats = npt.NDArray[np.float64]
DOCUMENT, LINES = "document", "lines"
UNITS = (DOCUMENT, LINES)
# Temperatures at which the probability of a text is computed; between them it is interpolated.
TEMPERATURES = np.geomspace(0.25, 4.0, 33)
PSEUDO = ("pll", "mntp", "diffusion")


class Window(NamedTuple):
    """Token ids as a model reads them at once, and how many at their end are scored there."""

    ids: list[int]
    n_scored: int


@runtime_checkable
class ReadsDocuments(Protocol):
    """A causal model that reads a text in overlapping windows."""

    max_tokens: int

    def windows(self, text: str, *, stride: int) -> list[Window]:
        """Return the windows of a text, in each of which the tokens after the one before are scored."""
        ...

    def window_logprobs(self, windows: Sequence[Window], *, progress: Progress | None = None) -> list[Floats]:
        """Return the log probabilities of the scored tokens of each window."""
        ...

    def temperature_sums(self, windows: Sequence[Window], temperatures: Floats) -> Floats:
        """Return −Σ log p of the windows by temperature, and its derivative by the inverse temperature."""
        ...


def text_perplexity(
    model: Scorer, text: str, *, by: str = "", stride: int = 0, progress: Progress | None = None
) -> dict[str, Any]:
    """Compute how well a model predicts a text.

    Parameters
    ----------
    model : Scorer
        Model with log probabilities, for example from :func:`obelus.scoring.scorer`.
    text : str
        The text.
    by : {"document", "lines"}, optional
        Read the text as one sequence in overlapping windows, which causal models of transformers can
        (their default), or line by line, each line by itself (the default of other models).
    stride : int, optional
        Tokens by which windows of a document advance; half a window by default. Each token is scored once,
        after at least the window less the stride (where the text has so many before it).
    progress : callable, optional
        Called with the number of windows or lines done.

    Returns
    -------
    dict
        ``nats`` (−log p of what was scored), ``tokens`` (scored), ``words`` (between white space),
        ``characters`` (code points) and ``bytes`` (UTF-8) of the text that was scored;
        ``perplexity_per_token`` and ``perplexity_per_word``; ``bits_per_token``, ``bits_per_word``,
        ``bits_per_character``, ``bits_per_byte``; ``by``, ``window`` and ``stride`` (null for lines),
        ``unscored_tokens`` and ``unscored_lines``; ``kind``: ``log probability`` or
        ``pseudo-log-likelihood``.

    Raises
    ------
    BadInput
        If the model gives no log probabilities, or cannot read the text in this way.
    NotEnoughData
        If nothing of the text has a score.

    Notes
    -----
    Only bits per word, character and byte compare models with different tokens. A pseudo-log-likelihood
    (masked models) is no probability: its pseudo-perplexity compares masked models alone (Salazar et al.
    2020). Line breaks are part of a document and no part of lines.

    References
    ----------
    Jelinek, Mercer, Bahl & Baker (1977), "Perplexity – a measure of the difficulty of speech recognition
    tasks". Salazar, Liang, Nguyen & Kirchhoff (2020), "Masked language model scoring", ACL.
    """
    unit = by or (DOCUMENT if isinstance(model, ReadsDocuments) else LINES)
    if unit not in UNITS:
        raise BadInput(f"a text is read by {' or '.join(UNITS)}, not by {unit!r}.", column="by")
    if stride and unit == LINES:
        raise BadInput("lines have no stride.", column="stride", remedy="Use it with --by document.")
    counts = (_document if unit == DOCUMENT else _lines)(model, text, stride, progress)
    if not counts["tokens"]:
        raise NotEnoughData("nothing of the text has a score.")
    nats = counts["nats"]
    is_pseudo = model.spec.method.startswith(PSEUDO)
    return {
        "model": str(model.spec.uri),
        "kind": "pseudo-log-likelihood" if is_pseudo else "log probability",
        "by": unit,
        **counts,
        "perplexity_per_token": _exp(nats / counts["tokens"]),
        "perplexity_per_word": _exp(_ratio(nats, counts["words"])),
        "bits_per_token": nats / counts["tokens"] / math.log(2),
        **{
            f"bits_per_{name}": _ratio(nats / math.log(2), counts[column])
            for name, column in (("word", "words"), ("character", "characters"), ("byte", "bytes"))
        },
    }


def calibrate_temperature(model: Scorer, text: str, *, by: str = "", stride: int = 0) -> dict[str, Any]:
    """Fit the temperature by which a causal model predicts a text best.

    Parameters
    ----------
    model : Scorer
        A causal model of transformers.
    text : str
        The text.
    by, stride
        As in :func:`text_perplexity`.

    Returns
    -------
    dict
        ``temperature`` fitted to the whole text; ``status``, ``ok`` or ``at_limit`` (the best is the lowest
        or highest tried: 0.25 and 4); and, where it was fitted to every second window or line and applied to
        the others, ``held_out``: the ``temperature``, ``bits_per_token`` with it and
        ``bits_per_token_before``, and the number of ``tokens``.

    Raises
    ------
    BadInput
        If the model is no causal model of transformers, or has a temperature already.
    NotEnoughData
        If the text has fewer than two windows or lines.

    Notes
    -----
    Logits are divided by the temperature; −log p is convex in its inverse, so that there is one best. A
    temperature above 1 says that the model is too certain of this text. It changes the differences between
    sentences: fit it to another text than the one that is judged.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger (2017), "On calibration of modern neural networks", ICML.
    """
    if not isinstance(model, ReadsDocuments):
        raise BadInput("only causal models of transformers have a temperature.", remedy="Use hf-causal:.")
    if "temperature" in model.spec.options:
        raise BadInput("the model has a temperature already.", remedy="Remove temperature= from its URI.")
    if (by or DOCUMENT) == DOCUMENT:
        windows = model.windows(text, stride=stride)
    else:
        windows = [window for line in _text_lines(text) for window in model.windows(line, stride=0)]
    windows = [window for window in windows if window.n_scored]
    if len(windows) < 2:
        raise NotEnoughData("the text is one window: a temperature needs two at least, one to test it.")
    fitted, tested = (model.temperature_sums(windows[start::2], TEMPERATURES) for start in (0, 1))
    temperature, status, _ = _best(fitted + tested)
    other, _, _ = _best(fitted)
    n_tested = sum(window.n_scored for window in windows[1::2])
    curve = _curve(tested)
    bits = n_tested * math.log(2)
    return {
        "temperature": temperature,
        "status": status,
        "held_out": {
            "temperature": other,
            "tokens": n_tested,
            "bits_per_token": float(curve(1 / other)) / bits,
            "bits_per_token_before": float(curve(1.0)) / bits,
        },
    }


def _curve(sums: Floats) -> Any:
    """Return −Σ log p as a function of the inverse temperature, from its values and derivatives."""
    from scipy.interpolate import CubicHermiteSpline

    inverse = 1 / TEMPERATURES[::-1]
    return CubicHermiteSpline(inverse, sums[0][::-1], sums[1][::-1])


def _best(sums: Floats) -> tuple[float, str, float]:
    """Return the best temperature, whether it is inside the range, and −Σ log p with it."""
    curve = _curve(sums)
    roots = [float(root) for root in curve.derivative().roots(extrapolate=False)]
    limits = [1 / float(TEMPERATURES[0]), 1 / float(TEMPERATURES[-1])]
    best = min([*roots, *limits], key=lambda inverse: float(curve(inverse)))
    return 1 / best, "at_limit" if best in limits else "ok", float(curve(best))


def _document(model: Scorer, text: str, stride: int, progress: Progress | None) -> dict[str, Any]:
    if not isinstance(model, ReadsDocuments):
        kind = model.spec.uri.partition(":")[0]
        raise BadInput(
            f"{kind}: reads sentences, no document.", column="by", remedy="Use --by lines, or hf-causal:."
        )
    windows = model.windows(text, stride=stride)
    rows = model.window_logprobs(windows, progress=progress)
    logprobs = np.concatenate(rows) if rows else np.empty(0)
    is_scored = np.isfinite(logprobs)
    n_unscored = int((~is_scored).sum()) + int(bool(windows) and not model.spec.bos)
    size = max((len(window.ids) for window in windows), default=0)
    return {
        "window": size,
        "stride": (stride or model.max_tokens // 2) if len(windows) > 1 else None,
        "nats": -float(logprobs[is_scored].sum()),
        "tokens": int(is_scored.sum()),
        "unscored_tokens": n_unscored,
        "unscored_lines": 0,
        **_lengths([text]),
    }


def _lines(model: Scorer, text: str, stride: int, progress: Progress | None) -> dict[str, Any]:
    lines = _text_lines(text)
    if not lines:
        raise NotEnoughData("the text is empty.")
    scores = model.score(lines, progress=progress)
    is_scored = np.isfinite(scores.logprob)
    n_end = int(model.spec.eos and model.spec.method in ("ll", "ngram", "seq2seq"))
    n_first = int(not model.spec.bos and model.spec.method == "ll")
    n = int(is_scored.sum())
    return {
        "window": None,
        "stride": None,
        "nats": -float(scores.logprob[is_scored].sum()),
        "tokens": int(scores.n_tokens[is_scored].sum()) + n * (n_end - n_first),
        "unscored_tokens": n * n_first,
        "unscored_lines": int((~is_scored & (scores.flags & FLAG_EMPTY == 0)).sum()),
        **_lengths([line for line, scored in zip(lines, is_scored, strict=True) if scored]),
    }


def _text_lines(text: str) -> list[str]:
    return [stripped for line in text.split("\n") if (stripped := line.strip())]


def _lengths(texts: Sequence[str]) -> dict[str, int]:
    return {
        "words": sum(len(text.split()) for text in texts),
        "characters": sum(map(len, texts)),
        "bytes": sum(len(text.encode("utf-8", "surrogatepass")) for text in texts),
    }


def _ratio(value: float, n: int) -> float | None:
    return value / n if n else None


def _exp(value: float | None) -> float | None:
    """Return exp(value), None where it is larger than any number."""
    return math.exp(value) if value is not None and value < 700 else None
