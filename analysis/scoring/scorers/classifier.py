"""Scorer of acceptability classifiers: ``hf-classifier:NAME@REVISION`` or ``hf-classifier:FOLDER``."""

import re
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import BadInput, UnknownName
from ..base import Progress, Scores, Spec, assemble_scores
from ..model_uri import CASING, CONTEXT, ModelURI, Option, parse_options
from ..neural.failures import Failures
from ..neural.loading import load_model
from ..neural.texts import encode, read_tokens
from ..neural.vocabulary import n_rows
from ..words.contexts import context_rule
from ..words.sentence_check import Readings
from ..words.tokens import indistinguishable
from .transformer import MODEL_OPTIONS

if TYPE_CHECKING:
    from ..neural.backend import Layers

OUTPUT = Option(
    "output",
    "Classifiers",
    "“confidence” is signed and never between −.5 and .5; “margin” is continuous.",
    ("confidence", "margin"),
)
LABEL = Option(
    "label",
    "Classifiers: the label for acceptable",
    "Only if the labels do not name it: acceptable, grammatical, correct, valid … or their opposites.",
    placeholder="NAME",
)
ACCEPTABLE = frozenset({"acceptable", "grammatical", "correct", "valid", "wellformed", "good"})
UNACCEPTABLE = frozenset(
    {"unacceptable", "ungrammatical", "incorrect", "invalid", "illformed", "bad"}
    | {f"{negation}{word}" for negation in ("not", "non", "no", "in", "un") for word in ACCEPTABLE}
)
NUMBERED = ({"0", "1"}, {"label0", "label1"})
BATCH = 32  # sentences


class ClassifierScorer:
    """The output of a classifier trained on acceptability (CoLA).

    ``confidence`` is the probability of the predicted label, negative for the unacceptable one, as in the ADC
    paper; ``margin`` is the difference of the two logits.

    Notes
    -----
    The signed confidence has no values in (−.5, .5): a sentence near the decision boundary jumps from one
    side to the other. The margin is continuous.

    References
    ----------
    Vázquez Martínez (2021), *The Acceptability Delta Criterion*, section 4.
    """

    OPTIONS = (OUTPUT, LABEL, CASING, CONTEXT, *MODEL_OPTIONS)
    capabilities = frozenset({"sum"})

    def __init__(self, uri: ModelURI) -> None:
        options = parse_options(uri, self.OPTIONS)
        self.output, self.contexts = options["output"], context_rule(options)
        loaded = load_model(uri.target, "AutoModelForSequenceClassification", options)
        # torch is there once a model is open; without it load_model says how to install it.
        from ..neural.structure import longest

        self.model, self.tokenizer, self.warnings = loaded.model, loaded.tokenizer, loaded.warnings
        self.library_tokenizer = loaded.library_tokenizer
        config = self.model.config
        self.good, notes = _label(config, options["label"], uri.target)
        self.warnings = [*self.warnings, *notes]
        self.lower = options["casing"] == "lower"
        self.max_tokens = longest(self.model)
        # Without a padding token the library cannot find the ends of sentences, so they go one at a time.
        self.batch_tokens = 1 if config.pad_token_id is None else BATCH * self.max_tokens
        self.why = ""
        self.layers: Layers | None = None
        self.spec = Spec(
            uri=uri.uri,
            revision=loaded.revision,
            method=f"cls-{self.output}",
            casing=options["casing"],
            dtype=loaded.dtype,
            options={"label": str(self.good), "tokenizer": loaded.tokenizer_sha, **loaded.recorded},
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences; equal ones once, in batches of one length, so that nothing is padded."""
        texts = [sentence.lower() if self.lower else sentence for sentence in sentences]
        n_marks = len(self.tokenizer("a")["input_ids"]) - len(self.tokenizer.tokenize("a"))
        max_tokens = max(0, self.max_tokens - n_marks)
        encoded = encode(
            self.tokenizer, sentences, lower=self.lower, max_tokens=max_tokens, n_rows=n_rows(self.model)
        )
        usable = np.flatnonzero(encoded.is_scorable).tolist()
        by_length: dict[int, dict[str, None]] = {}
        for index in usable:
            by_length.setdefault(len(encoded.ids[index]), {})[texts[index]] = None
        lengths = {text: length + n_marks for length, group in by_length.items() for text in group}
        failures = Failures(self.warnings)
        distinct = sorted(lengths, key=lambda text: -lengths[text])
        run = partial(self._ordered_outputs, lengths=lengths, progress=progress)
        outputs = dict(zip(distinct, failures.run(run, distinct, missing=np.nan), strict=True))
        values = np.full(len(sentences), np.nan)
        values[usable] = [outputs[texts[index]] for index in usable]
        flags = encoded.flags | failures.flags(sentences, [text in failures.reasons for text in texts])
        return assemble_scores(sentences, values, n_tokens=encoded.n_tokens, n_unk=encoded.n_unk, flags=flags)

    def same_tokens(self, sentences: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which sentences have the same tokens as a different one."""
        encoded = encode(self.tokenizer, sentences, lower=self.lower)
        return indistinguishable(sentences, list(map(tuple, encoded.ids)))

    def read_sentences(self, sentences: Sequence[str]) -> Readings:
        """Return what the model reads of each sentence."""
        encoded = encode(self.tokenizer, sentences, lower=self.lower)
        return read_tokens(self.tokenizer, encoded, library_tokenizer=self.library_tokenizer)

    def _ordered_outputs(
        self, texts: Sequence[str], *, lengths: dict[str, int], progress: Progress | None
    ) -> list[float]:
        """Return the outputs of texts in their order, which is that of their lengths."""
        outputs: dict[str, float] = {}
        for length, group in groupby(texts, key=lambda text: lengths[text]):
            outputs.update(self._outputs(list(group), length=length, progress=progress))
        return [outputs[text] for text in texts]

    def _outputs(self, texts: Sequence[str], *, length: int, progress: Progress | None) -> dict[str, float]:
        """Return the output for texts of one length, in smaller batches if memory runs out."""
        import torch

        outputs: dict[str, float] = {}
        while remaining := list(texts[len(outputs) :]):
            batch = remaining[: max(1, min(BATCH, self.batch_tokens // length))]
            try:
                outputs.update(zip(batch, self._batch_outputs(batch), strict=True))
            except torch.OutOfMemoryError:
                if len(batch) == 1:
                    raise
                torch.cuda.empty_cache()
                self.batch_tokens = len(batch) * length // 2
                continue
            if progress is not None:
                progress(len(batch))
        return outputs

    def _batch_outputs(self, batch: Sequence[str]) -> list[float]:
        import torch

        from ..neural.backend import backend_for

        self.layers = self.layers or backend_for(self.model).linear_layers()
        with torch.inference_mode(), self.layers.active():
            logits = self.model(**self.tokenizer(list(batch), return_tensors="pt").to(self.model.device))
            margin = (logits.logits[:, self.good] - logits.logits[:, 1 - self.good]).double()
        if self.output == "margin":
            return [float(value) for value in margin]
        good = torch.sigmoid(margin)
        return [float(value) for value in torch.where(good >= 0.5, good, good - 1)]


def _label(config: Any, name: str, target: str) -> tuple[int, list[str]]:
    """Return the number of the acceptable label among two, and a warning where the labels have no names."""
    labels = {int(number): str(label) for number, label in config.id2label.items()}
    if len(labels) != 2:
        raise BadInput(f"the classifier has {len(labels)} labels; acceptability needs two.")
    if name:
        return _requested_label(labels, name), []
    words = {number: re.sub(r"[\W_]", "", label.lower()) for number, label in labels.items()}
    good = {number for number, word in words.items() if word in ACCEPTABLE}
    bad = {number for number, word in words.items() if word in UNACCEPTABLE}
    candidates = (good or set(labels)) - bad
    if (good or bad) and len(candidates) == 1:
        return candidates.pop(), []
    if set(words.values()) in NUMBERED:
        good_number = max(labels, key=lambda number: words[number])
        return good_number, [
            f"the labels of {target!r} are only numbered: {labels[good_number]} is taken for acceptable, as "
            f"in CoLA; ?label={labels[1 - good_number]} takes the other"
        ]
    listed = " and ".join(repr(labels[number]) for number in sorted(labels))
    raise BadInput(
        f"the labels of {target!r} are {listed}; which of them means acceptable is not known.",
        column="label",
        remedy="Add ?label=NAME to the model URI, with the one for acceptable.",
    )


def _requested_label(labels: dict[int, str], name: str) -> int:
    """Return the number of the label of that name, else the one of that number."""
    for number, label in labels.items():
        if label.lower() == name.lower():
            return number
    if name in map(str, labels):
        return int(name)
    raise UnknownName("label", name, sorted(labels.values()))
