"""Scorer by masked next token prediction of decoders that see every token: ``hf-mntp:NAME`` or ``FOLDER``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ..model_uri import Option
from ..neural.vocabulary import begin_marks, n_rows
from .masked import MaskedScorer

if TYPE_CHECKING:
    import torch

    from ..neural.masked_paths import Copy
    from ..neural.probe import Chosen

MASK = Option(
    "mask",
    "Mask of decoders",
    "Masked next token prediction: the token that hides another; by default the tokenizer’s mask, else “_”.",
    placeholder="TOKEN",
)
BLANK = "_"  # the mask of LLM2Vec for tokenizers without one


class MNTPScorer(MaskedScorer):
    """Σ log p(token | the sentence with that token masked), read at the token before it.

    A decoder is run with every token in view of every other (LLM2Vec), whatever its own mask is. Decoders
    that were not trained in this way give numbers without meaning.

    References
    ----------
    BehnamGhader et al. (2024), "LLM2Vec: Large language models are secretly powerful text encoders", COLM.
    """

    AUTO_CLASS = "AutoModelForCausalLM"
    PREFIX = "mntp-"
    OPTIONS = (*MaskedScorer.OPTIONS, MASK)

    def _mask(self, options: dict[str, str], name: str) -> int:
        """Return the token that masks others, after testing that the model sees later tokens."""
        self.before, _ = begin_marks(self.tokenizer, "auto")
        if not self.before:
            raise BadInput(
                f"{name!r} has no beginning mark, at which its first token could be predicted.",
                remedy="Use hf-causal: for causal models.",
            )
        _refuse_causal(self.model, name)
        if not options["mask"] and self.tokenizer.mask_token_id is not None:
            return int(self.tokenizer.mask_token_id)
        text = options["mask"] or BLANK
        token = self.tokenizer.get_vocab().get(text)
        if token is None:
            raise BadInput(
                f"the tokenizer of {name!r} has no token {text!r} to mask others with.",
                column="mask",
                remedy="Add mask=TOKEN to the model URI, the one that the model was trained with.",
            )
        return int(token)

    def _marks(self) -> tuple[list[int], list[int]]:
        return self.before, []

    def _choose(self, copies: "Sequence[Copy]") -> "Chosen[Any]":
        from ..neural.probe import Chosen

        return Chosen(BeforeMask(self.model), "every token in view, logits at the token before the mask")


class BeforeMask:
    """A decoder with every token in view, its logits at the token before the masked one."""

    name = "before the mask"

    def __init__(self, model: Any) -> None:
        self.model = model

    def logits(self, ids: "torch.Tensor", positions: "torch.Tensor") -> "torch.Tensor":
        """Return the logits before one position of each row."""
        import torch

        rows = torch.arange(len(ids), device=ids.device)
        return in_full_view(self.model, ids)[rows, positions - 1]


def in_full_view(model: Any, ids: "torch.Tensor") -> "torch.Tensor":
    """Return the logits of a decoder in which every token attends to every other."""
    import torch

    n = ids.shape[1]
    # An additive mask of four dimensions replaces the causal one of transformers.
    mask = torch.zeros((len(ids), 1, n, n), dtype=model.dtype, device=ids.device)
    logits: torch.Tensor = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
    return logits


def _refuse_causal(model: Any, name: str) -> None:
    """Refuse a model in which no logit depends on the tokens after it."""
    import torch

    tokens = torch.arange(min(6, n_rows(model)), device=model.device)[None]
    changed = tokens.clone()
    changed[0, -1] = 0
    try:
        with torch.inference_mode():
            first, second = (in_full_view(model, ids)[0, :-1].double() for ids in (tokens, changed))
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # models of others raise any type; reported below
        reason = str(error).strip().split("\n")[0][:160] or type(error).__name__
        raise BadInput(f"the model {name!r} cannot be run with every token in view: {reason}") from error
    if float((first - second).abs().max()) <= 1e-6 * float(first.abs().max()):
        raise BadInput(
            f"the model {name!r} ({type(model).__name__}) does not see later tokens, whatever its mask is.",
            remedy="Use hf-causal: for causal models.",
        )
