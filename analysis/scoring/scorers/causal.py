"""Scorer of causal language models: ``hf-causal:NAME@REVISION`` or ``hf-causal:FOLDER``."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ..base import FLAG_NO_FIRST, Progress, Scores, sampling_note
from ..model_uri import ANSWERS, EOS, QUESTION, SAMPLES, SEED, SPACE, ModelURI, Option
from ..neural.chat import answer_ids, chat_ids, read_chat_template, template_warnings
from ..neural.failures import Failures
from ..neural.texts import Encoded, encode
from ..neural.vocabulary import begin_marks, begin_warning, n_rows
from ..perplexity import Window
from .transformer import TOKEN_OPTIONS, TransformerScorer

if TYPE_CHECKING:
    from ..neural.causal_paths import CausalPathChoice
    from ..words.segmentations import Segmenter

Floats = npt.NDArray[np.float64]
N_TOKENS = 9
# Largest change of an earlier logit over that at the changed token. Experts that are computed in batches
# change the last bits; tiny bidirectional models with random weights reach .01 and more.
LIMITS = {"float32": 1e-4, "float64": 1e-6}
HALF_LIMIT = 5e-3
ONLY_CAUSAL = "Use hf-masked: for masked models; hf-causal: takes decoder-only models."
BOUNDARY = Option(
    "boundary",
    "Ends of critical words",
    "For one_prefix and two_prefix, causal models: “corrected” adds the probability that the word ends, and "
    "subtracts the probability that one begins. Scores of whole sentences do not change.",
    ("none", "corrected"),
)
BOS = Option(
    "bos",
    "Mark before a sentence",
    "Causal models: auto (what the tokenizer writes, else its bos token, else eos), bos, eos or none.",
    ("auto", "bos", "eos", "none"),
)
PATH = Option(
    "path",
    "Path through causal models",
    "For comparisons of speed; “auto” tests the paths and uses the fastest that is right.",
    ("auto", "tree", "plain", "own-head", "naive"),
)
MARGINAL = ("tokenizations", "samples", "seed")
TOKENIZATIONS = Option(
    "tokenizations",
    "Segmentations into tokens",
    "Causal models: “own” is the tokenizer’s; “marginal” sums the probabilities of all, or estimates the sum "
    "from samples, with a standard error.",
    ("own", "marginal"),
)
TEMPERATURE = Option(
    "temperature",
    "Temperature",
    "Causal models: logits are divided by it. manage.py perplexity --calibrate fits one to a text.",
    default="1",
    placeholder="NUMBER",
    values=("1",),
    pattern=r"(?=.*[1-9])\d{1,2}(\.\d{1,6})?",
)


class CausalScorer(TransformerScorer):
    """log p(sentence) = Σ log p(token | all before it), after a mark of the beginning.

    Without a beginning mark the first token has no probability and is not scored, which a flag reports.
    """

    AUTO_CLASS = "AutoModelForCausalLM"
    OPTIONS = (
        BOS,
        EOS,
        SPACE,
        QUESTION,
        ANSWERS,
        BOUNDARY,
        PATH,
        TOKENIZATIONS,
        SAMPLES,
        SEED,
        TEMPERATURE,
        *TOKEN_OPTIONS,
    )

    def __init__(self, uri: ModelURI) -> None:
        options, loaded = self._open(uri)
        self.name, self.space = uri.target, options["space"] == "yes"
        self.answer_settings = {
            "question": options["question"],
            "answers": options["answers"],
            "read": "log probability of the answer's tokens",
        }
        self.start, start_name = begin_marks(self.tokenizer, options["bos"])
        self.warnings = [*self.warnings, *begin_warning(self.tokenizer, self.start)]
        if max(self.start, default=-1) >= n_rows(self.model):
            raise BadInput(
                f"the beginning mark is token {max(self.start)}, the model knows {n_rows(self.model)}.",
                remedy="Give the tokenizer that the model was trained with, or bos=none.",
            )
        self.end = self._end() if options["eos"] == "yes" else None
        special = self.tokenizer.all_special_ids
        _refuse_lookahead(self.model, uri.target, special=special, longest=self.max_tokens)
        self.path_name, self.temperature = options["path"], float(options["temperature"])
        if self.temperature != 1:
            self._set_temperature()
        self.segmenter = self._segmenter() if options["tokenizations"] == "marginal" else None
        self.n_samples, self.seed = int(options["samples"]), int(options["seed"])
        self.choice: CausalPathChoice | None = None
        self.why = ""
        self.boundaries = self._boundaries() if options["boundary"] == "corrected" else []
        self.spec = self._build_spec(
            uri,
            loaded,
            method="ll",
            bos=bool(self.start),
            eos=self.end is not None,
            options={
                "start": start_name,
                "space": options["space"],
                "boundary": options["boundary"],
                # Only where they differ from the default, so that the keys of other models stay.
                **({"temperature": options["temperature"]} if self.temperature != 1 else {}),
                **({name: options[name] for name in MARGINAL} if self.segmenter is not None else {}),
            },
            # In half precision the first version scored some architectures by a path that is wrong for them.
            scorer_version=1 if loaded.dtype == "float32" else 2,
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences, distinct ones once; what cannot be scored is NaN and flagged, never truncated."""
        encoded = self._encode(sentences)
        failures = Failures(self.warnings)
        logprobs = self._logprobs(encoded, failures, progress=progress)
        if self.segmenter is not None:
            return self._marginal_scores(encoded, logprobs, failures)
        scored = self._scored_ids(encoded)
        is_failed = [tuple(row) in failures.reasons for row in encoded.ids]
        no_first = np.uint8(0 if self.start else FLAG_NO_FIRST)
        return self._columns(
            sentences,
            logprobs,
            encoded=encoded,
            scored=scored,
            flags=encoded.flags | no_first | failures.flags(sentences, is_failed),
            spans=self._spans(encoded),
            tokens=tokens,
        )

    def _marginal_scores(self, encoded: Encoded, logprobs: list[Floats], failures: Failures) -> Scores:
        """Return the scores over all segmentations, from those of the tokenizer's own."""
        from ..words.segmentations import marginal_logprob

        assert self.segmenter is not None
        drawn = [
            self.segmenter.draw(text, tuple(ids), n_samples=self.n_samples, seed=self.seed)
            if len(row) and is_scorable
            else None
            for text, ids, row, is_scorable in zip(
                encoded.texts, encoded.ids, logprobs, encoded.is_scorable, strict=True
            )
        ]
        n_marks = len(self.start) + (self.end is not None)
        every = dict.fromkeys(ids for each in drawn if each is not None for ids in each.others)
        usable = [ids for ids in every if len(ids) + n_marks <= self.max_tokens]
        end = [] if self.end is None else [self.end]
        rows = self._run([[*self._with_start(ids), *end] for ids in usable], progress=None)
        first = max(0, len(self.start) - 1)
        sums = {ids: row[first:].sum() for ids, row in zip(usable, rows, strict=True)}
        estimates = [
            (np.nan, np.nan)
            if each is None
            else marginal_logprob(
                float(row.sum()), np.array([sums.get(ids, -np.inf) for ids in each.others]), each
            )
            for each, row in zip(drawn, logprobs, strict=True)
        ]
        lacking = [
            text
            for text, each, row in zip(encoded.sentences, drawn, logprobs, strict=True)
            if each is None and len(row)
        ]
        if lacking:
            self.warnings.append(
                f"{len(lacking)} sentences have no other segmentation, because their tokens do not join to "
                f"their text (unknown characters, bytes, marks), and are not scored: “{lacking[0][:60]}”"
            )
        values, errors = np.array(estimates, dtype=np.float64).reshape(-1, 2).T
        self.warnings.append(sampling_note(errors, self.n_samples))
        is_failed = [tuple(row) in failures.reasons for row in encoded.ids]
        scores = self._columns(
            encoded.sentences,
            [np.array([value]) if np.isfinite(value) else np.empty(0) for value in values],
            encoded=encoded,
            scored=self._scored_ids(encoded),
            flags=encoded.flags | failures.flags(encoded.sentences, is_failed),
            spans=None,
            tokens=False,
        )
        return scores._replace(standard_error=errors, unigram_logprob=None)

    def windows(self, text: str, *, stride: int) -> list[Window]:
        """Return the windows of a text; each begins with the beginning mark, which is not scored."""
        encoded = encode(
            self.tokenizer, [text], lower=self.lower, space=self.space, n_rows=n_rows(self.model)
        )
        ids, size = encoded.ids[0], self.max_tokens - len(self.start)
        step = stride or max(1, self.max_tokens // 2)
        if not 0 < step <= size:
            raise BadInput(
                f"windows of {size} tokens cannot advance by {step}.",
                column="stride",
                remedy=f"Give 1 to {size}.",
            )
        ends = [min(size, len(ids))] if ids else []
        while ends and ends[-1] < len(ids):
            ends.append(min(ends[-1] + step, len(ids)))
        windows = [
            Window(self._with_start(ids[max(0, end - size) : end]), end - before)
            for before, end in zip([0, *ends], ends, strict=False)
        ]
        if windows and not self.start:  # the first token of the text has no probability
            windows[0] = windows[0]._replace(n_scored=windows[0].n_scored - 1)
        return windows

    def window_logprobs(self, windows: Sequence[Window], *, progress: Progress | None = None) -> list[Floats]:
        """Return the log probabilities of the scored tokens of each window."""
        rows = self._run([window.ids for window in windows], progress=progress)
        return [row[len(row) - window.n_scored :] for row, window in zip(rows, windows, strict=True)]

    def temperature_sums(self, windows: Sequence[Window], temperatures: Floats) -> Floats:
        """Return −Σ log p of the windows by temperature, and its derivative by the inverse temperature."""
        from ..neural.next_tokens import temperature_sums

        return temperature_sums(self.model, windows, temperatures.tolist())

    def token_entropies(self, sentences: Sequence[str]) -> list[Floats]:
        """Return the entropy of the prediction of each scored token, in nats."""
        from ..neural.next_tokens import next_entropies

        encoded = self._encode(sentences)
        rows = [
            [*self._with_start(ids), *([] if self.end is None else [self.end])] if is_scorable else []
            for ids, is_scorable in zip(encoded.ids, encoded.is_scorable, strict=True)
        ]
        first = max(0, len(self.start) - 1)
        return [row[first:] for row in next_entropies(self.model, rows)]

    def chat_template(self) -> str:
        """Return the template around a message; raise BadInput if the model has none."""
        template = read_chat_template(self.tokenizer, self.name)
        self.warnings = list(dict.fromkeys([*self.warnings, *template_warnings(template)]))
        return template

    def answer_logprobs(
        self, messages: Sequence[str], answers: Sequence[str], *, progress: Progress | None = None
    ) -> Floats:
        """Return the sum of log probabilities of each answer's tokens; NaN for messages that are too long."""
        endings = answer_ids(self.tokenizer, answers)
        rows = [[*chat_ids(self.tokenizer, message), *ending] for message in messages for ending in endings]
        usable = [number for number, row in enumerate(rows) if len(row) <= self.max_tokens]
        logprobs = np.full(len(rows), np.nan)
        for number, scored in zip(
            usable, self._run([rows[number] for number in usable], progress=progress), strict=True
        ):
            logprobs[number] = scored[-len(endings[number % len(endings)]) :].sum()
        return logprobs.reshape(len(messages), len(answers))

    def boundary_correction(self, texts: Sequence[str], n_before: Sequence[int]) -> Floats:
        """Return what to add to the log probability of the last word of each text, after ``n_before`` tokens.

        log P(boundary | text) − log P(boundary | tokens before): the word ends where a word can end, and that
        it begins at a boundary is given. Zeros without ``boundary=corrected``.
        """
        if not self.boundaries:
            return np.zeros(len(texts))
        from ..neural.next_tokens import next_logprobs

        ids = self.token_ids(texts)
        after = [self._with_start(row) for row in ids]
        before = [self._with_start(row[:n]) for row, n in zip(ids, n_before, strict=True)]
        usable = [index for index, row in enumerate(before) if row and len(after[index]) <= self.max_tokens]
        correction = np.full(len(texts), np.nan)
        contexts = [rows[index] for rows in (after, before) for index in usable]
        ends, begins = np.split(next_logprobs(self.model, contexts, self.boundaries), 2)
        correction[usable] = ends - begins
        return correction

    def _spans(self, encoded: Encoded) -> list[list[tuple[int, int]]] | None:
        """Return the characters of each scored token; the end of the sentence has an empty span."""
        if encoded.spans is None:
            return None
        first = 0 if self.start else 1
        return [
            [*spans[first:], *([(len(sentence), len(sentence))] if self.end is not None else [])]
            for sentence, spans in zip(encoded.sentences, encoded.spans, strict=True)
        ]

    def _scored_ids(self, encoded: Encoded) -> list[list[int]]:
        """Return the scored tokens of each sentence."""
        first, last = 0 if self.start else 1, [] if self.end is None else [self.end]
        return [[*row[first:], *last] if row else [] for row in encoded.ids]

    def _encode(self, sentences: Sequence[str]) -> Encoded:
        n_marks = len(self.start) + (self.end is not None)
        return encode(
            self.tokenizer,
            sentences,
            lower=self.lower,
            space=self.space,
            max_tokens=max(0, self.max_tokens - n_marks),
            n_rows=n_rows(self.model),
        )

    def _logprobs(self, encoded: Encoded, failures: Failures, *, progress: Progress | None) -> list[Floats]:
        """Return the log probabilities of each sentence's tokens; distinct sequences are run once."""
        rows = [
            tuple(ids) if is_scorable else ()
            for ids, is_scorable in zip(encoded.ids, encoded.is_scorable, strict=True)
        ]
        distinct = list(dict.fromkeys(row for row in rows if row))
        end = [] if self.end is None else [self.end]

        def run(rows: Sequence[tuple[int, ...]]) -> list[Floats]:
            # The path is chosen for these: a sentence that fails must not end the test of the others.
            values = self._run([[*self._with_start(row), *end] for row in rows], progress=progress)
            # Of several marks all but the first have a probability, which is not the sentence's.
            return [row[max(0, len(self.start) - 1) :] for row in values]

        logprobs = dict(zip(distinct, failures.run(run, distinct, missing=np.empty(0)), strict=True))
        return [logprobs.get(row, np.empty(0)) for row in rows]

    def _run(self, sequences: Sequence[Sequence[int]], *, progress: Progress | None) -> list[Floats]:
        """Return log P of every token but the first of each sequence, by the path that is tested for them."""
        from ..neural.causal_paths import CausalPathChoice

        self.choice = self.choice or CausalPathChoice(self.model, self.path_name)
        chosen = self.choice.path_for(sequences)
        self.why = chosen.why
        return chosen.path.run(sequences, progress=progress)

    def _set_temperature(self) -> None:
        """Divide the model's logits; paths through the head alone do not see it and are found to differ."""
        if self.path_name in ("tree", "plain"):
            raise BadInput(
                f"path={self.path_name} does not apply a temperature.",
                column="path",
                remedy="Remove path, or use path=own-head.",
            )

        def divide(model: Any, inputs: Any, output: Any) -> Any:
            output.logits = output.logits / self.temperature
            return output

        self.model.register_forward_hook(divide)

    def _segmenter(self) -> "Segmenter":
        from ..words.segmentations import Segmenter

        if not self.start:
            raise BadInput(
                "without a beginning mark the first token has no probability, so segmentations cannot be "
                "summed.",
                column="tokenizations",
                remedy="Use tokenizations=own, or another bos.",
            )
        self.capabilities = frozenset({"sum"})  # a sum over segmentations has no tokens
        return Segmenter(self.tokenizer)

    def _with_start(self, ids: Sequence[int]) -> list[int]:
        return [*self.start, *ids]

    def _boundaries(self) -> list[int]:
        from ..neural.next_tokens import boundary_tokens

        return boundary_tokens(self.tokenizer)

    def _end(self) -> int:
        if self.tokenizer.eos_token_id is None:
            raise BadInput("the model has no eos token.", remedy="Remove eos=yes.")
        return int(self.tokenizer.eos_token_id)


def _refuse_lookahead(model: Any, name: str, *, special: Collection[int], longest: int) -> None:
    """Refuse a model whose logits change when a later token changes, or that cannot be run this way."""
    import torch

    marks = {*special, *(getattr(model.config, name, None) for name in ("pad_token_id", "pad_index"))}
    usable = [token for token in range(n_rows(model)) if token not in marks]
    n_tokens = min(N_TOKENS, longest)
    if len(usable) < 2 or n_tokens < 2:
        return
    step = max(1, len(usable) // (n_tokens + 1))
    tokens = [usable[index * step % len(usable)] for index in range(n_tokens + 1)]
    first, second = tokens[:-1], [*tokens[:-2], tokens[-1]]
    try:
        with torch.inference_mode():
            logits = [
                model(input_ids=torch.tensor([ids], device=model.device)).logits[0].double()
                for ids in (first, second)
            ]
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # models of others raise any type; reported below
        reason = str(error).strip().split("\n")[0][:160] or type(error).__name__
        raise BadInput(
            f"the model {name!r} cannot be run on tokens alone: {reason}", remedy=ONLY_CAUSAL
        ) from error
    if not all(values.isfinite().all() for values in logits):
        return  # scores that are no numbers are flagged sentence by sentence
    change = (logits[0] - logits[1]).abs().amax(dim=1)
    limit = LIMITS.get(str(model.dtype).removeprefix("torch."), HALF_LIMIT)
    if float(change[:-1].max()) > limit * float(change[-1]):
        raise BadInput(
            f"the model {name!r} ({type(model).__name__}) sees later tokens: changing the last of {n_tokens} "
            "tokens changes the predictions before it, so sums of its log probabilities are no probability.",
            remedy=ONLY_CAUSAL,
        )
