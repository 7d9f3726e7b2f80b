"""Scorer that reads the sample logs of lm-evaluation-harness: ``lm-eval:PATH/samples_*.jsonl``."""

import hashlib
import json
import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import BadInput
from ..base import Progress, Scores, Spec, file_revision, looked_up_scores
from ..model_uri import ModelURI, Option, parse_options

SPACE = Option("space", values=("yes", "no"), default="")
TOLERANCE = 1e-3  # nats; the harness scores a sentence again in another batch, which rounds otherwise
WRITE_SAMPLES = (
    "Run the harness with --log_samples on a task of output_type multiple_choice or loglikelihood."
)


SPACE_WARNING = (
    "the harness scored each sentence after a space (target_delimiter), as hf-causal with space=yes; scores "
    "of the sentence without it are other numbers"
)


class LoggedScore(NamedTuple):
    """A log probability that the harness logged, and where."""

    sentence: str
    has_space: bool
    logprob: float
    file: str
    line: int


class HarnessSampleScorer:
    """Looks up sentences in sample logs, one file for each task, of any model and back end of the harness.

    The target is a file, a folder with ``samples_*.jsonl`` below it, or a pattern of names. A sentence is
    the continuation that the harness scored after an empty context, without the delimiter before it. A
    space as the delimiter, as in the harness's own BLiMP, is part of what was scored: the specification has
    ``space=yes``. Logs with and without it are not mixed; ``space`` then chooses.
    """

    OPTIONS = (SPACE,)
    capabilities = frozenset({"sum"})
    key = "sentence"

    def __init__(self, uri: ModelURI) -> None:
        options = parse_options(uri, self.OPTIONS)
        paths = sample_files(uri.target)
        self.file = uri.target
        scores = [score for path in paths for score in logged_scores(path)]
        kinds = {"yes" if score.has_space else "no" for score in scores}
        space = options["space"] or _only_kind(kinds, file=uri.target)
        self.logprobs = _by_sentence(score for score in scores if score.has_space == (space == "yes"))
        self.warnings = [SPACE_WARNING] if space == "yes" else []
        digest = hashlib.sha256("".join(sorted(file_revision(path) for path in paths)).encode())
        revision = file_revision(paths[0]) if len(paths) == 1 else f"sha256:{digest.hexdigest()}"
        self.spec = Spec(
            uri=uri.uri, revision=revision, method="csv", tokens="space", options={"space": space}
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Look up every sentence; the score of a sentence that the logs do not contain is NaN."""
        return looked_up_scores(sentences, self.logprobs, progress=progress)


def _only_kind(kinds: Collection[str], *, file: str) -> str:
    """Return whether the sentences were scored after a space; refused where only some were."""
    if len(kinds) > 1:
        raise BadInput(
            "some sentences were scored after a space and others not, so their scores cannot be compared.",
            file=file,
            remedy="Add ?space=yes or ?space=no to the model URI, or name the logs of one task.",
        )
    return next(iter(kinds), "no")


def sample_files(target: str) -> list[Path]:
    """Return the sample logs that a path, a folder or a pattern of file names stands for."""
    path = Path(target)
    if path.is_file():
        return [path]
    folder, pattern = (path, "samples_*.jsonl") if path.is_dir() else (path.parent, path.name)
    paths = sorted(folder.rglob(pattern) if path.is_dir() else folder.glob(pattern))
    if not paths:
        raise BadInput("there is no sample log.", file=target, remedy=WRITE_SAMPLES)
    return paths


def logged_scores(path: Path) -> Iterator[LoggedScore]:
    """Yield the log probability of every sentence of a sample log."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield from _line_scores(line, str(path), number)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot be read: {error}.", file=str(path)) from error


def _line_scores(line: str, file: str, number: int) -> Iterator[LoggedScore]:
    try:
        sample = json.loads(line)
        arguments, answers = sample["arguments"], sample["filtered_resps"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            "the line is no sample with arguments and filtered_resps.",
            file=file,
            row=number,
            remedy=WRITE_SAMPLES,
        ) from error
    requests = list(arguments.values()) if isinstance(arguments, dict) else list(arguments)
    if len(requests) != len(answers):
        message = f"{len(requests)} requests have {len(answers)} answers."
        raise BadInput(message, file=file, row=number, column="filtered_resps", remedy=WRITE_SAMPLES)
    for request, answer in zip(requests, answers, strict=True):
        context, sentence = _texts(request, file, number)
        if context.strip():
            raise BadInput(
                f"{sentence!r} was scored after the context {context[:40]!r}, not as a whole sentence.",
                file=file,
                row=number,
                column="arguments",
                remedy='Run a task with doc_to_text: "", as in the folder lm_eval of a release.',
            )
        yield LoggedScore(
            sentence.strip(), sentence[:1].isspace(), _logprob(answer, file, number), file, number
        )


def _texts(request: Any, file: str, number: int) -> tuple[str, str]:
    """Return context and continuation of a request."""
    parts = list(request.values()) if isinstance(request, dict) else request
    if isinstance(parts, list) and len(parts) == 2 and all(isinstance(part, str) for part in parts):
        return parts[0], parts[1]
    raise BadInput(
        "a request is no context and continuation.",
        file=file,
        row=number,
        column="arguments",
        remedy=WRITE_SAMPLES,
    )


def _logprob(answer: Any, file: str, number: int) -> float:
    """Read the first part of an answer: the log probability, which the harness writes as text."""
    value = answer[0] if isinstance(answer, list) and answer else None
    try:
        logprob = float(str(value))
    except ValueError:
        logprob = math.nan
    if not math.isfinite(logprob) or logprob > 0:
        message = f"{value!r} is not a log probability."
        raise BadInput(message, file=file, row=number, column="filtered_resps", remedy=WRITE_SAMPLES)
    return logprob


def _by_sentence(scores: Iterator[LoggedScore]) -> dict[str, float]:
    first: dict[str, LoggedScore] = {}
    for score in scores:
        earlier = first.setdefault(score.sentence, score)
        if abs(earlier.logprob - score.logprob) > TOLERANCE:
            raise BadInput(
                f"{score.sentence!r} has {score.logprob:g} here and {earlier.logprob:g} in {earlier.file}, "
                f"row {earlier.line}.",
                file=score.file,
                row=score.line,
                remedy="Name the logs of one run of one model.",
            )
    return {sentence: score.logprob for sentence, score in first.items()}
