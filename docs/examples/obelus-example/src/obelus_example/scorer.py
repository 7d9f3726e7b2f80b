"""A kind of model: it is opened by a model URI such as ``example:characters``."""

from collections.abc import Sequence

import numpy as np

from analysis.errors import UnknownName
from analysis.scoring.base import Progress, Scores, Spec, assemble_scores
from analysis.scoring.model_uri import ModelURI

MODELS = ("characters", "words")


class ExampleScorer:
    """The shorter a sentence, the better."""

    capabilities = frozenset({"sum"})

    def __init__(self, uri: ModelURI) -> None:
        if uri.target not in MODELS:
            raise UnknownName("model", uri.target, MODELS)
        self.counts_words = uri.target == "words"
        # Everything that affects a score belongs into the specification: it identifies the run.
        self.spec = Spec(uri=uri.uri, revision="1", method="length", tokens="space")

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """One score for each sentence, in their order."""
        words = np.array([len(sentence.split()) for sentence in sentences], dtype=np.int32)
        lengths = words if self.counts_words else np.array([len(sentence) for sentence in sentences])
        if progress is not None:
            progress(len(sentences))
        return assemble_scores(
            sentences,
            -lengths.astype(np.float64),
            n_tokens=words,
            n_unk=np.zeros_like(words),
            flags=np.zeros(len(sentences), dtype=np.uint8),
        )
