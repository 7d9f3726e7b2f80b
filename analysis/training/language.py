"""Training of small language models, and their perplexity on held-out sentences."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput, NotEnoughData
from ..scoring.neural.loading import import_optional, resolve_device
from .codec import Codec, unigram_logprobs
from .plan import Plan
from .text import Corpus

CHECKPOINTS, REPORT = "checkpoints", "training.json"


def train_language_model(
    corpus: Corpus,
    plan: Plan,
    out: str | Path,
    *,
    resume: bool = False,
    device: str = "auto",
    every: int = 500,
    progress: Any = None,
) -> dict[str, Any]:
    """Train one model with one seed and save it.

    Parameters
    ----------
    corpus : Corpus
        From :func:`obelus.training.text.read_corpus`.
    plan : Plan
        Settings of the model and its training.
    out : str or Path
        A new or empty folder; with ``resume`` that of an interrupted run.
    resume : bool
        Continue from the last checkpoint, if there is one.
    device : {"auto", "cpu", "cuda"}
        Where to train; ``auto`` uses an accelerator if there is one.
    every : int
        Steps between checkpoints; there is also one after each epoch.
    progress : callable, optional
        Called with epoch, step and steps of an epoch.

    Returns
    -------
    dict
        Also written as ``training.json``: the model URI, held-out perplexity (per token, with one end per
        sentence) and unigram perplexity, bits per character, the history by epoch, and the number of
        sentences that were too long.

    Raises
    ------
    BadInput, NotEnoughData, UnknownName
        If packages are missing, the folder is not empty, the checkpoint belongs to another run, or the loss
        is not finite.

    Notes
    -----
    Perplexity is exp(−Σ log p / n). Perplexities of two models are comparable if their tokens are the same;
    bits per character, −Σ log2 p / characters, also across word and character models, if few tokens
    are unknown.
    """
    out = Path(out)
    device, family = resolve_device(device, remedy="Use --device cpu."), _family(plan.kind)
    with _claim_folder(out, resume=resume) as checkpoints:
        report, write = _train(
            corpus, plan, checkpoints, family, resume=resume, device=device, every=every, progress=progress
        )
        _publish(out, report, write)
    return {"model": f"{'lstm' if plan.kind == 'lstm' else 'hf-causal'}:{out}", **report}


def _train(
    corpus: Corpus,
    plan: Plan,
    checkpoints: Path,
    family: Any,
    *,
    resume: bool,
    device: str,
    every: int,
    progress: Any,
) -> tuple[dict[str, Any], Callable[[Path], None]]:
    """Return the report, and the function that writes the model into a folder."""
    import torch

    from .loop import LAST, Run

    if not (resume and (checkpoints / LAST).is_file()):
        # A tokenizer without its checkpoint belongs to another text.
        (checkpoints / "tokenizer.json").unlink(missing_ok=True)
    codec = family.make_codec(plan, corpus.train, checkpoints / "tokenizer.json")
    rows, dropped = _rows(codec, corpus.train, plan.context)
    held_out, held_dropped = _rows(codec, corpus.held_out, plan.context)
    if not rows or not held_out:
        raise NotEnoughData("no sentence fits the context.", remedy="Give a longer --context.")
    unigrams = unigram_logprobs((row[1:-1] for row in rows), n_types=codec.n_types, end=codec.end)
    devices = range(torch.cuda.device_count()) if device == "cuda" else []
    with torch.random.fork_rng(devices=list(devices)):
        torch.manual_seed(plan.seed)
        model = family.build(plan, codec)
        run = Run(
            model,
            family.logits,
            rows,
            held_out,
            plan=plan,
            folder=checkpoints,
            corpus=corpus.sha256,
            device=device,
        )
        if resume:
            run.resume()
        state = run.train(progress=progress, every=every)
    total, n_tokens = run.measure(held_out)
    unknown = _unknown(codec)
    report = {
        "seed": plan.seed,
        "epochs": state.epoch,
        "stopped": "patience" if state.waited >= plan.patience else "epochs",
        "perplexity": float(np.exp(-total / n_tokens)),
        "unigram_perplexity": _unigram_perplexity(unigrams, held_out),
        "bits_per_character": -total / float(np.log(2)) / _characters(codec, corpus.held_out, plan.context),
        "held_out_sentences": len(held_out),
        "held_out_tokens": n_tokens,
        "unknown_share": sum(row.count(unknown) for row in held_out) / n_tokens,
        "train_sentences": len(rows),
        "train_tokens": sum(len(row) - 1 for row in rows),
        "too_long": dropped + held_dropped,
        "vocabulary": codec.n_types,
        "parameters": sum(weight.numel() for weight in run.model.parameters()),
        "corpus": f"sha256:{corpus.sha256}",
        "plan": asdict(plan),
        "history": state.history,
    }
    return report, lambda folder: family.save(folder, run.model.cpu(), codec, plan, unigrams)


def _family(kind: str) -> Any:
    if kind == "lstm":
        from . import lstm

        return lstm
    import_optional("transformers")
    from . import transformer

    return transformer


@contextmanager
def _claim_folder(out: Path, *, resume: bool) -> Iterator[Path]:
    """Prepare a new or empty folder, or one with checkpoints; bad input leaves it unchanged."""
    if out.exists() and not out.is_dir():
        raise BadInput("this is not a folder.", file=str(out))
    existed, is_used = out.is_dir(), out.is_dir() and any(out.iterdir())
    if is_used and not resume:
        raise BadInput("the folder is not empty.", file=str(out), remedy="Give a new folder, or --resume.")
    checkpoints = out / CHECKPOINTS
    if is_used and not checkpoints.is_dir():
        raise BadInput("the folder has no checkpoints.", file=str(out), remedy="Give a new folder.")
    try:
        checkpoints.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot be created: {error.strerror}.", file=str(out)) from error
    try:
        yield checkpoints
    except BadInput:
        if not is_used:
            shutil.rmtree(checkpoints if existed else out)
        raise


def _rows(codec: Codec, sentences: list[str], context: int) -> tuple[list[list[int]], int]:
    """Return the sentences between marks, and how many are longer than the context; none is truncated."""
    encoded = [[codec.end, *ids, codec.end] for ids in codec.encode(sentences) if ids]
    rows = [row for row in encoded if not context or len(row) - 1 <= context]
    return rows, len(encoded) - len(rows)


def _characters(codec: Codec, sentences: list[str], context: int) -> int:
    encoded = zip(sentences, codec.encode(sentences), strict=True)
    return sum(len(sentence) for sentence, ids in encoded if ids and (not context or len(ids) + 1 <= context))


def _unknown(codec: Any) -> int:
    """Return the number of ``<unk>``; -1 where no token is unknown."""
    if hasattr(codec, "unknown"):
        return int(codec.unknown)
    number = codec.tokenizer.token_to_id("<unk>")
    return -1 if number is None else int(number)


def _unigram_perplexity(unigrams: Any, rows: list[list[int]]) -> float:
    values = np.concatenate([unigrams[row[1:]] for row in rows])
    return float(np.exp(-values.mean()))


def _publish(out: Path, report: dict[str, Any], write: Callable[[Path], None]) -> None:
    """Write all files to a temporary folder, then move them into place, the report last."""
    try:
        with tempfile.TemporaryDirectory(dir=out / CHECKPOINTS) as temporary:
            folder = Path(temporary)
            write(folder)
            files = sorted(folder.iterdir())
            text = json.dumps(report, indent=2, allow_nan=False)
            (folder / REPORT).write_text(text + "\n", encoding="utf-8")
            for file in [*files, folder / REPORT]:
                file.chmod(0o644)  # temporary files are private, models are shared
                file.replace(out / file.name)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}.", file=str(out)) from error
