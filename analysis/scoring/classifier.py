"""Acceptability classifiers: ``hf-classifier:NAME@REVISION`` or ``hf-classifier:FOLDER``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import (
    FLAG_EMPTY,
    FLAG_NOT_FINITE,
    FLAG_TOO_LONG,
    Progress,
    ScorerAddress,
    Scores,
    Spec,
    take_options,
)
from analysis.scoring.neural.loading import need, open_model
from analysis.scoring.neural.texts import encode, lower_case
from analysis.scoring.neural.vocabulary import longest, n_rows

OUTPUTS = ("confidence", "margin")
OPTIONS = ("label", "output", "casing", "dtype", "device", "trust")
GOOD_NAMES = ("acceptable", "label_1", "1")
BATCH = 32


class ClassifierScorer:
    """What a classifier trained on acceptability (CoLA) says of a sentence.

    Options: ``output`` (``confidence``, the probability of the winning label with a minus sign for the
    unacceptable one, as in the ADC paper; ``margin``, the difference of the two logits), ``label`` (name or
    number of the acceptable label), ``casing=lower``, ``dtype``, ``device``, ``trust=yes``.

    Notes
    -----
    The signed confidence has no values in (−.5, .5): a sentence the classifier wavers about jumps from one
    side to the other. The margin is continuous.

    References
    ----------
    Vázquez Martínez (2021), *The Acceptability Delta Criterion*, section 4.
    """

    capabilities = frozenset({"sum"})

    def __init__(self, address: ScorerAddress) -> None:
        options = take_options(address, *OPTIONS)
        self.output = options.get("output", "confidence")
        if self.output not in OUTPUTS:
            raise UnknownName("output", self.output, OUTPUTS)
        need("torch")
        opened = open_model(address, "AutoModelForSequenceClassification")
        self.model, self.tokenizer = opened.model, opened.tokenizer
        self.good = _label(opened.model.config, options.get("label", ""))
        self.lower = lower_case(options.get("casing", "as-is"))
        self.warnings = opened.warnings
        self.most = longest(opened.model.config)
        is_alone = opened.model.config.pad_token_id is None  # such models find no end in a batch
        self.why, self.tokens = "", 1 if is_alone else BATCH * self.most  # of one batch
        self.layers: Any = None
        self.spec = Spec(
            uri=address.uri,
            revision=opened.revision,
            method=f"cls-{self.output}",
            casing="lower" if self.lower else "as-is",
            dtype=opened.dtype,
            options={"label": str(self.good), "tokenizer": opened.tokenizer_sha},
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences; equal ones once, those of one length together, so that nothing is padded."""
        texts = [one.lower() if self.lower else one for one in sentences]
        marks = len(self.tokenizer("a")["input_ids"]) - len(self.tokenizer.tokenize("a"))
        most = max(0, self.most - marks)
        read = encode(self.tokenizer, sentences, lower=self.lower, most=most, n_rows=n_rows(self.model))
        usable = [place for place, flags in enumerate(read.flags) if not flags & (FLAG_EMPTY | FLAG_TOO_LONG)]
        by_length: dict[int, dict[str, None]] = {}
        for place in usable:
            by_length.setdefault(len(read.ids[place]), {})[texts[place]] = None
        said: dict[str, float] = {}
        for length, alike in sorted(by_length.items(), reverse=True):
            said.update(self._asked(list(alike), length=length + marks, progress=progress))
        values, flags = np.full(len(sentences), np.nan), read.flags.copy()
        values[usable] = [said[texts[place]] for place in usable]
        flags[[place for place in usable if not np.isfinite(values[place])]] |= FLAG_NOT_FINITE
        return Scores(
            np.where(np.isfinite(values), values, np.nan),
            read.n_tokens,
            np.array([len(sentence.split()) for sentence in sentences], dtype=np.int32),
            np.array([len(sentence) for sentence in sentences], dtype=np.int32),
            read.n_unk,
            flags,
        )

    def _asked(self, alike: Sequence[str], *, length: int, progress: Progress | None) -> dict[str, float]:
        """Values of sentences of one length; tokens that the memory does not hold at once are halved."""
        import torch

        said: dict[str, float] = {}
        while left := list(alike[len(said) :]):
            group = left[: max(1, min(BATCH, self.tokens // length))]
            try:
                said.update(zip(group, self._values(group), strict=True))
            except torch.OutOfMemoryError:
                if len(group) == 1:
                    raise
                torch.cuda.empty_cache()
                self.tokens = len(group) * length // 2
                continue
            if progress is not None:
                progress(len(group))
        return said

    def _values(self, group: Sequence[str]) -> list[float]:
        import torch

        from analysis.scoring.neural.packed import packed_layers

        self.layers = packed_layers(self.model) if self.layers is None else self.layers
        with torch.inference_mode(), self.layers.put_in():
            logits = self.model(**self.tokenizer(list(group), return_tensors="pt").to(self.model.device))
            margin = (logits.logits[:, self.good] - logits.logits[:, 1 - self.good]).double()
        if self.output == "margin":
            return [float(value) for value in margin]
        good = torch.sigmoid(margin)
        return [float(value) for value in torch.where(good >= 0.5, good, good - 1)]


def _label(config: Any, wanted: str) -> int:
    """The number of the acceptable label among two."""
    names = {int(number): str(name).lower() for number, name in config.id2label.items()}
    if len(names) != 2:
        raise BadInput(f"the classifier has {len(names)} labels; acceptability needs two.")
    for name in (wanted.lower(),) if wanted else GOOD_NAMES:
        for number, label in names.items():
            if name in (label, str(number)):
                return number
    raise UnknownName("label", wanted or "acceptable", sorted(names.values()))
