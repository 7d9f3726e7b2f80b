"""Sentences on which a model fails: found by halving, flagged and left out of the scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ..base import FLAG_FAILED

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
ENOUGH = 8  # failures, and as many more from all parts of the work: then the model fails on everything
NAMED = 3  # sentences in a warning


@dataclass
class Failures:
    """Failures of one call, and the warnings of the scorer, to which they are added."""

    warnings: list[str]
    reasons: dict[object, str] = field(default_factory=dict)

    def run(
        self, run: Callable[[Sequence[ItemT]], Sequence[ResultT]], items: Sequence[ItemT], *, missing: ResultT
    ) -> list[ResultT]:
        """Run items; where the model fails, the result is ``missing`` and the reason is stored."""
        results, queue = [missing] * len(items), [list(range(len(items)))]
        n_failed, has_succeeded = 0, False
        while queue:
            places = queue.pop()
            try:
                for place, result in zip(places, run([items[place] for place in places]), strict=True):
                    results[place] = result
                has_succeeded = has_succeeded or bool(places)
                continue
            except Exception as error:  # models of others raise any type; isolated, then reported below
                if _concerns_all(error):
                    raise
                reason = failure_reason(error)
            if len(places) > 1:
                middle = len(places) // 2
                queue += [places[middle:], places[:middle]]
                continue
            self.reasons[items[places[0]]] = reason
            n_failed += 1
            if n_failed == ENOUGH and not has_succeeded:
                left = [place for part in queue for place in part]
                spread = (
                    {left[k] for k in np.linspace(0, len(left) - 1, ENOUGH).astype(int)} if left else set()
                )
                queue = [[place for place in part if place not in spread] for part in queue]
                queue = [part for part in queue if part] + [[place] for place in sorted(spread)]
            elif n_failed == 2 * ENOUGH and not has_succeeded:
                raise BadInput(
                    f"the model fails on every sentence that was tried ({n_failed}): {reason}",
                    remedy="Try path=naive or another dtype in the model URI, another model, "
                    "or a device with more memory.",
                )
        return results

    def flags(self, sentences: Sequence[str], is_failed: Sequence[bool]) -> npt.NDArray[np.uint16]:
        """Return the flag of each sentence, and name those that failed in the warnings."""
        names = list(dict.fromkeys(text for text, failed in zip(sentences, is_failed, strict=True) if failed))
        if names:
            quoted = ", ".join(f"“{name[:60]}{'…' if name[60:] else ''}”" for name in names[:NAMED])
            more = f" and {len(names) - NAMED} more" if names[NAMED:] else ""
            reason = next(iter(self.reasons.values()))
            self.warnings.append(f"the model failed on {quoted}{more}, not scored: {reason}")
        return (FLAG_FAILED * np.asarray(is_failed, dtype=np.bool_)).astype(np.uint16)


def refuse_unrunnable(model: Any, ids: Sequence[int], name: str) -> None:
    """Refuse a model that cannot be run on a few tokens, such as one whose operations lack its precision."""
    import torch

    try:
        with torch.inference_mode():
            model(input_ids=torch.tensor([list(ids)], device=model.device))
    except Exception as error:  # models of others raise any type; reported below
        if _concerns_all(error):
            raise
        raise BadInput(
            f"the model {name!r} ({type(model).__name__}) cannot be run on tokens alone in "
            f"{str(model.dtype).removeprefix('torch.')}: {failure_reason(error)}.",
            remedy="Use another dtype, or another model.",
        ) from error


def failure_reason(error: BaseException) -> str:
    """Return the type and the first line of an error of a model."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:160]}"


def _concerns_all(error: Exception) -> bool:
    """Return whether an error says nothing of the sentences: wrong input, the host's memory, a lost device.

    A device whose memory runs out is no such error: batches were halved before, and what does not fit then is
    one sentence.
    """
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return (
        isinstance(error, BadInput | MemoryError) or "AcceleratorError" in kinds or "CUDA error" in str(error)
    )
