"""Scorer of masked diffusion models by their bound on log p: ``hf-diffusion:NAME`` or ``FOLDER``."""

import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ..base import Progress, Scores, sampling_note
from ..model_uri import SAMPLES, SEED, SPACE, ModelURI
from ..neural.failures import Failures, refuse_unrunnable
from ..neural.loading import import_optional
from ..neural.texts import Encoded, encode
from ..neural.vocabulary import n_rows, outer_marks
from .mntp import MASK
from .transformer import TOKEN_OPTIONS, TransformerScorer

Floats = npt.NDArray[np.float64]
GROUPS = 8  # of samples, from whose means the standard error is computed
TOKENS = 512  # in one batch, all of whose logits are in memory
Masks = tuple[tuple[int, ...], ...]


class DiffusionScorer(TransformerScorer):
    """E[(n / k) Σ log p(token | the sentence with k tokens masked, that among them)], k uniform in 1..n.

    A lower bound on log p(sentence), as masked diffusion models (LLaDA) are trained and evaluated; it is also
    the expected log probability over all orders in which tokens could be filled in. Marks of the tokenizer
    are never masked.

    Notes
    -----
    The expected value is exact for sentences with no more sets of masked tokens than ``samples``. Otherwise
    eight groups of samples have systematic k and random masks; the score is the mean of their means, without
    bias, and its standard error that of eight independent means. The samples of a sentence are the same in
    every batch and on every worker.

    References
    ----------
    Nie et al. (2025), "Large language diffusion models", arXiv 2502.09992, appendix on likelihood evaluation.
    Sahoo et al. (2024), "Simple and effective masked diffusion language models", NeurIPS. Ou et al. (2025),
    "Your absorbing discrete diffusion secretly models the conditional distributions of clean data", ICLR.
    """

    OPTIONS = (SAMPLES, SEED, MASK, SPACE, *TOKEN_OPTIONS)

    def __init__(self, uri: ModelURI) -> None:
        self.AUTO_CLASS = _auto_class(uri)
        options, loaded = self._open(uri)
        self.space, self.n_samples = options["space"] == "yes", int(options["samples"])
        self.seed, self.capabilities = int(options["seed"]), frozenset({"sum"})
        self.mask = self._mask(options["mask"], uri.target)
        before, after = outer_marks(self.tokenizer)
        refuse_unrunnable(self.model, [*before, self.mask, *after], uri.target)
        _refuse_causal(self.model, uri.target, mask=self.mask)
        self.why = "every token in view, the model's own head at all masked tokens"
        self.spec = self._build_spec(
            uri,
            loaded,
            method="diffusion",
            bos=bool(before),
            eos=bool(after),
            options={
                "space": options["space"],
                "mask": str(self.mask),
                "samples": options["samples"],
                "seed": options["seed"],
            },
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences, distinct ones once; what cannot be scored is NaN and flagged."""
        encoded, failures = self._encode(sentences), Failures(self.warnings)
        rows = [
            tuple(row) if is_scorable else ()
            for row, is_scorable in zip(encoded.ids, encoded.is_scorable, strict=True)
        ]
        distinct = list(dict.fromkeys(row for row in rows if row))

        def run(group: Sequence[tuple[int, ...]]) -> list[tuple[float, float]]:
            estimates = []
            for row in group:
                estimates.append(self._estimate(row))
                if progress is not None:
                    progress(1)
            return estimates

        missing = (math.nan, math.nan)
        by_row = dict(zip(distinct, failures.run(run, distinct, missing=missing), strict=True))
        values, errors = np.array([by_row.get(row, missing) for row in rows], np.float64).reshape(-1, 2).T
        self.warnings.append(sampling_note(errors, self.n_samples))
        scores = self._columns(
            sentences,
            [np.array([value]) if np.isfinite(value) else np.empty(0) for value in values],
            encoded=encoded,
            scored=encoded.ids,
            flags=encoded.flags | failures.flags(sentences, [row in failures.reasons for row in rows]),
            spans=None,
            tokens=False,
        )
        return scores._replace(standard_error=errors)

    def _encode(self, sentences: Sequence[str]) -> Encoded:
        before, after = outer_marks(self.tokenizer)
        return encode(
            self.tokenizer,
            sentences,
            lower=self.lower,
            space=self.space,
            max_tokens=max(0, self.max_tokens - len(before) - len(after)),
            n_rows=n_rows(self.model),
        )

    def _estimate(self, row: tuple[int, ...]) -> tuple[float, float]:
        """Return the bound on log p of a sentence and its standard error."""
        n = len(row)
        if 2**n - 1 <= self.n_samples:
            masks = [each for k in range(1, n + 1) for each in itertools.combinations(range(n), k)]
            values = self._masked_sums(row, masks)
            weights = [1 / (len(each) * math.comb(n, len(each))) for each in masks]
            return float(values @ weights), 0.0
        digest = hashlib.sha256(np.array(row, dtype=np.int64).tobytes()).digest()
        rng = np.random.default_rng([self.seed, *digest[:8]])
        size = max(1, self.n_samples // GROUPS)
        masks = []
        for _ in range(GROUPS):
            places = (rng.random() + np.arange(size) / size) % 1
            masks += [tuple(sorted(rng.permutation(n)[: 1 + int(u * n)].tolist())) for u in places]
        counts = np.array([len(each) for each in masks])
        means = (self._masked_sums(row, masks) * n / counts).reshape(GROUPS, size).mean(axis=1)
        return float(means.mean()), float(means.std(ddof=1) / math.sqrt(GROUPS))

    def _masked_sums(self, row: tuple[int, ...], masks: Sequence[tuple[int, ...]]) -> Floats:
        """Return Σ log p of the masked tokens of each copy."""
        import torch

        before, after = outer_marks(self.tokenizer)
        device, distinct = self.model.device, list(dict.fromkeys(masks))
        sentence = torch.tensor(row, device=device)
        marks = [torch.tensor(ids, device=device, dtype=torch.long) for ids in (before, after)]
        size = max(1, TOKENS // (len(row) + len(before) + len(after)))
        sums: dict[tuple[int, ...], float] = {}
        with torch.inference_mode():
            for start in range(0, len(distinct), size):
                group = distinct[start : start + size]
                is_masked = torch.zeros((len(group), len(row)), dtype=torch.bool, device=device)
                for place, mask in enumerate(group):
                    is_masked[place, list(mask)] = True
                copies = torch.where(is_masked, self.mask, sentence)
                outer = [ids.expand(len(group), -1) for ids in marks]
                ids = torch.cat([outer[0], copies, outer[1]], dim=1)
                logits = self.model(input_ids=ids).logits[:, len(before) : len(before) + len(row)]
                logprobs = torch.log_softmax(logits.float(), -1)
                chosen = logprobs.gather(2, sentence.expand(len(group), -1)[:, :, None])[:, :, 0].double()
                values = torch.where(is_masked, chosen, 0.0).sum(dim=1)
                sums.update(zip(group, values.tolist(), strict=True))
        return np.array([sums[mask] for mask in masks])

    def _mask(self, text: str, name: str) -> int:
        """Return the token that masks others: the tokenizer's, or a token or its number."""
        if not text and self.tokenizer.mask_token_id is not None:
            return int(self.tokenizer.mask_token_id)
        token = self.tokenizer.get_vocab().get(text, int(text) if text.isdecimal() else None)
        if not text or token is None or token >= n_rows(self.model):
            raise BadInput(
                f"the tokenizer of {name!r} has no token {text!r} that masks others."
                if text
                else f"the tokenizer of {name!r} names no mask.",
                column="mask",
                remedy="Add mask=TOKEN or its number to the model URI, as the model's authors give it.",
            )
        return int(token)


def _auto_class(uri: ModelURI) -> str:
    """Return the class of transformers that opens a model: that of masked models where there is one."""
    transformers = import_optional("transformers")
    name, _, revision = uri.target.partition("@")
    trust = uri.options.get("trust", "no").lower() in ("yes", "true", "1")
    try:
        config = transformers.AutoConfig.from_pretrained(
            name, revision=revision or None, trust_remote_code=trust
        )
    except Exception:  # reported when the model is opened
        return "AutoModelForMaskedLM"
    own: Mapping[str, Any] = getattr(config, "auto_map", None) or {}
    is_masked = type(config) in transformers.MODEL_FOR_MASKED_LM_MAPPING if not own else False
    return "AutoModelForMaskedLM" if is_masked or "AutoModelForMaskedLM" in own else "AutoModelForCausalLM"


def _refuse_causal(model: Any, name: str, *, mask: int) -> None:
    """Refuse a model whose prediction at a mask does not depend on the tokens after it."""
    import torch

    others = [token for token in range(n_rows(model)) if token != mask][-4:]
    rows = [[others[0], mask, *others[1:3]], [others[0], mask, others[1], others[-1]]]
    with torch.inference_mode():
        first, second = (
            model(input_ids=torch.tensor([row], device=model.device)).logits[0, 1].double() for row in rows
        )
    if float((first - second).abs().max()) <= 1e-6 * float(first.abs().max()):
        raise BadInput(
            f"the model {name!r} ({type(model).__name__}) does not see later tokens, so it is no masked "
            "diffusion model.",
            remedy="Use hf-causal: for causal models.",
        )
