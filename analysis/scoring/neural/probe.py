"""Choice of the fastest path through a model that gives the right scores, tested on a sample of the work."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

Floats = npt.NDArray[np.float64]
Rows = Sequence[Floats]  # log probabilities of the tokens of each sequence
PathT = TypeVar("PathT")
TOLERANCE = 1e-4  # nats of a sequence's sum, in single precision at least
RELATIVE = 1e-6  # of a sum beyond 100 nats, which single precision rounds by more
# Error of a path in half precision over the model's own: median and root mean square over the tokens. Experts
# that are chosen otherwise after rounding make few large errors on any path, which the second allows for.
MEDIAN_RATIO, RMS_RATIO = 2.0, 4.0
HALF = (torch.bfloat16, torch.float16)
# What a path raises for an architecture that it was not written for.
FAILURES = (TypeError, ValueError, RuntimeError, AttributeError, IndexError)


@dataclass(frozen=True)
class Chosen(Generic[PathT]):
    """A path through a model, and the reason for choosing it."""

    path: PathT
    why: str


class SinglePrecision(TorchFunctionMode):
    """Compute every operation in single precision, the weights of a model in half precision included.

    It gives reference values without a second copy of the model: one weight is converted at a time.
    """

    def __torch_function__(
        self, operation: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Convert tensors and requested types of half precision, then compute."""
        if getattr(operation, "__name__", "") == "__get__":  # an attribute, such as the shape
            return operation(*args, **(kwargs or {}))
        return operation(*tree_map(_single, args), **tree_map(_single, kwargs or {}))


def _single(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(torch.float32) if value.dtype in HALF else value
    return torch.float32 if isinstance(value, torch.dtype) and value in HALF else value


@dataclass(frozen=True)
class Reference:
    """Values of a model's own run, one sequence at a time, in single precision at least.

    ``own`` holds those in the model's half precision, by which the error of a path is judged; ``sample``
    describes the sequences.
    """

    values: Rows
    sample: str
    own: Rows | None = None

    def difference(self, rows: Rows) -> tuple[float, bool]:
        """Return how far the sums of rows are from the reference, in nats, and whether that is too far."""
        sums, expected = (np.array([row.sum() for row in values]) for values in (rows, self.values))
        worst = np.abs(sums - expected)
        is_right = worst <= np.maximum(TOLERANCE, RELATIVE * np.abs(expected))
        return float(worst.max(initial=0.0)), bool(is_right.all())

    def noise(self, rows: Rows) -> tuple[float, bool]:
        """Return the ratio of a path's rounding error to the model's own, and whether that is too much."""
        assert self.own is not None
        errors, rounding_errors = (
            np.abs(_join_rows(values) - _join_rows(self.values)) for values in (rows, self.own)
        )
        if not len(errors):
            return 0.0, True
        medians, squares = (
            (np.median(values), np.sqrt(np.mean(values**2))) for values in (errors, rounding_errors)
        )
        ratio = float(medians[1] / max(squares[1], np.finfo(np.float32).eps))
        is_right = medians[0] <= MEDIAN_RATIO * squares[0] and ratio <= RMS_RATIO
        return ratio, bool(is_right)


@dataclass(frozen=True)
class Candidate(Generic[PathT]):
    """A path: how to make it, a reason why the model's structure excludes it, and a plain form for proofs.

    ``proof`` makes the path with the model's own layers, which run in single precision as well.
    """

    make: Callable[[], PathT]
    proof: Callable[[], PathT]
    obstacle: str = ""


def choose_path(
    candidates: Mapping[str, Candidate[PathT]],
    evaluate: Callable[[PathT], Rows],
    *,
    reference: Reference,
    fallback: tuple[str, PathT],
) -> Chosen[PathT]:
    """Return the first candidate, the fastest first, that the structure allows and whose values are right.

    ``fallback`` is the name and path to use where no candidate agrees.

    Notes
    -----
    In single precision sums must agree to 1e-4. In half precision the path is proven in single precision by
    the same bound, with the model's own layers; then its rounding error may be as large as the model's own.
    Without that proof a wrong mask or position would pass for rounding.

    Examples
    --------
    >>> candidate = Candidate(lambda: 1.5, lambda: 1.5)
    >>> exact = ("slow", 1.0)
    >>> reference = Reference([np.ones(2)], "1 sum")
    >>> choose_path({"fast": candidate}, lambda k: [np.full(2, k)], reference=reference, fallback=exact).why
    'slow: no faster path agrees; fast differs by 1.0e+00'
    """
    rejected: list[str] = []
    for name, candidate in candidates.items():
        if candidate.obstacle:
            rejected.append(f"{name} does not apply: {candidate.obstacle}")
            continue
        try:
            tested = _test_path(candidate, evaluate, reference)
        except FAILURES as error:
            detail = str(error).strip().split("\n")[0][:80]
            rejected.append(f"{name} fails ({type(error).__name__}: {detail})")
            continue
        if isinstance(tested, Chosen):
            return Chosen(tested.path, "; ".join([f"{name}: {reference.sample} {tested.why}", *rejected]))
        rejected.append(f"{name} {tested}")
    if reference.own is None:
        worst, is_right = reference.difference(evaluate(fallback[1]))
        if not is_right:
            rejected.append(f"the model's own attention differs by {worst:.1e} from eager attention")
    return Chosen(fallback[1], "; ".join([f"{fallback[0]}: no faster path agrees", *rejected]))


def _test_path(
    candidate: Candidate[PathT], evaluate: Callable[[PathT], Rows], reference: Reference
) -> Chosen[PathT] | str:
    """Return a path and how well it agrees with the reference, or what is wrong with it."""
    if reference.own is None:
        path = candidate.make()
        worst, is_right = reference.difference(evaluate(path))
        if not is_right:
            return f"differs by {worst:.1e}"
        return Chosen(path, f"within {worst:.1e} of scoring one at a time")
    with SinglePrecision():
        worst, is_right = reference.difference(evaluate(candidate.proof()))
    if not is_right:
        return f"differs by {worst:.1e} in single precision"
    path = candidate.make()
    ratio, is_right = reference.noise(evaluate(path))
    rounding = f"{ratio:.1f} times the model's own rounding error"
    if not is_right:
        return f"has {rounding}"
    return Chosen(path, f"within {worst:.1e} of scoring one at a time in single precision, {rounding}")


@contextmanager
def eager_attention(model: Any) -> Iterator[None]:
    """Compute attention by plain matrix products, so that no fused kernel is its own reference.

    Models without this choice keep their attention.
    """
    own = getattr(getattr(model, "config", None), "_attn_implementation", None)
    try:
        if own not in (None, "eager"):
            model.set_attn_implementation("eager")
    except FAILURES:
        own = None
    try:
        yield
    finally:
        if own not in (None, "eager"):
            model.set_attn_implementation(own)


def in_half_precision(model: Any) -> bool:
    """Return whether a model computes in half precision."""
    return model.dtype in HALF


def _join_rows(rows: Rows) -> Floats:
    return np.concatenate(rows) if len(rows) else np.empty(0)
