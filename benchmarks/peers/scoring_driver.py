"""Scores sentences with minicons and lm-evaluation-harness, in their own environment.

A question is a line of JSON: ``{"open": KIND, "folder": FOLDER}`` opens a model, ``{"kind", "batch",
"metric", "sentences"}`` scores; the answer has ``sums`` and ``cpu_s``. Whatever the packages print goes to
stderr.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

with suppress(AttributeError, OSError):
    os.sched_setaffinity(0, {int(os.environ.get("CORE", "1"))})

import torch  # noqa: E402
import transformers  # noqa: E402

torch.set_num_threads(1)


def open_model(kind: str, folder: str) -> Any:
    """Open a model as the package's own documentation does."""
    if kind == "lm-eval":
        from lm_eval.models.huggingface import HFLM

        return HFLM(pretrained=folder, device="cpu", dtype="float32", batch_size=32)
    from minicons import scorer

    if kind == "masked":
        # minicons 0.3.39 calls a method that transformers 5 no longer has; calling the tokenizer is the same
        transformers.PreTrainedTokenizerBase.batch_encode_plus = transformers.PreTrainedTokenizerBase.__call__
        return scorer.MaskedLMScorer(folder, "cpu")
    return scorer.IncrementalLMScorer(folder, "cpu")


def total(row: Any) -> float:
    """The sum over tokens; minicons takes the mean unless told."""
    return float(row.sum(0).item())


def sums(
    model: Any, kind: str, sentences: Sequence[str], *, batch: int = 32, metric: str = "original"
) -> list[float]:
    """Sums of log probabilities, in batches as given."""
    if kind == "lm-eval":
        from lm_eval.api.instance import Instance

        model.batch_size_per_gpu = batch
        instances = [
            Instance("loglikelihood", {}, ("", sentence), place) for place, sentence in enumerate(sentences)
        ]
        return [float(logprob) for logprob, _ in model.loglikelihood(instances, disable_tqdm=True)]
    how = {"PLL_metric": metric} if kind == "masked" else {"bos_token": True}
    totals: list[float] = []
    for start in range(0, len(sentences), batch):
        part = list(sentences[start : start + batch])
        totals += model.sequence_score(part, reduction=total, **how)
    return totals


def main() -> None:
    """Answer until nothing more is asked."""
    answers, sys.stdout = sys.stdout, sys.stderr
    models: dict[str, Any] = {}
    for line in sys.stdin:
        question = json.loads(line)
        if "open" in question:
            models[question["open"]] = open_model(question["open"], question["folder"])
            answer: dict[str, Any] = {}
        else:
            kind = question.pop("kind")
            start = time.process_time()
            with torch.inference_mode():
                totals = sums(models[kind], kind, question.pop("sentences"), **question)
            answer = {"sums": totals, "cpu_s": time.process_time() - start}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
