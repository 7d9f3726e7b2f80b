"""Train a small language model on a corpus, and say how well it predicts what it has not seen."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from analysis.errors import BadInput, NotEnoughData, UnknownName
from analysis.scoring.neural.loading import DEVICES, need
from analysis.training.codec import Codec, unigram_logprobs
from analysis.training.plan import Plan
from analysis.training.text import Corpus

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
        From :func:`analysis.training.text.read_corpus`.
    plan : Plan
        What to train.
    out : str or Path
        A folder that is new or empty; with ``resume`` the one of a run that was broken off.
    resume : bool
        Go on from the last checkpoint, if there is one.
    device : {"auto", "cpu", "cuda"}
    every : int
        Steps between checkpoints; there is one after each epoch besides.
    progress : callable, optional
        Told epoch, step and steps of an epoch.

    Returns
    -------
    dict
        Also written as ``training.json``: the address to score with, perplexity of the sentences held out
        (per token, with one end per sentence), that of single tokens by frequency, bits per character, the
        history by epoch, what was left out as too long.

    Raises
    ------
    BadInput, NotEnoughData, UnknownName
        If packages are missing, the folder is taken, the checkpoint belongs to another run, or the loss is
        not finite.

    Notes
    -----
    Perplexity is exp(−Σ log p / n). Two models' perplexities can be compared when their tokens are the same;
    bits per character, −Σ log2 p / characters, across word and character models too, as long as few tokens
    are unknown.
    """
    need("torch")
    out = Path(out)
    device, family = _device(device), _family(plan.kind)
    with _claimed(out, resume=resume) as checkpoints:
        report, write = _trained(
            corpus, plan, checkpoints, family, resume=resume, device=device, every=every, progress=progress
        )
        _publish(out, report, write)
    return {"model": f"{'lstm' if plan.kind == 'lstm' else 'hf-causal'}:{out}", **report}


def _trained(
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
    """The report, and what writes the model into a folder."""
    import torch

    from analysis.training.loop import LAST, Run

    if not (resume and (checkpoints / LAST).is_file()):
        (checkpoints / "tokenizer.json").unlink(missing_ok=True)
    codec = family.make_codec(plan, corpus.train, checkpoints / "tokenizer.json")
    rows, dropped = _rows(codec, corpus.train, plan.context)
    held_out, held_dropped = _rows(codec, corpus.held_out, plan.context)
    if not rows or not held_out:
        raise NotEnoughData("no sentence fits the context.", remedy="Give a longer --context.")
    single = unigram_logprobs((row[1:-1] for row in rows), n_types=codec.n_types, end=codec.end)
    cards = range(torch.cuda.device_count()) if device == "cuda" else []
    with torch.random.fork_rng(devices=list(cards)):
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
        "unigram_perplexity": _unigram_perplexity(single, held_out),
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
    return report, lambda folder: family.save(folder, run.model.cpu(), codec, plan, single)


def _family(kind: str) -> Any:
    if kind == "lstm":
        from analysis.training import lstm

        return lstm
    need("transformers")
    from analysis.training import transformer

    return transformer


def _device(name: str) -> str:
    torch = need("torch")
    if name not in DEVICES:
        raise UnknownName("device", name, DEVICES)
    if name == "cuda" and not torch.cuda.is_available():
        raise BadInput("no accelerator is found.", remedy="Use --device cpu.")
    return ("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else name


@contextmanager
def _claimed(out: Path, *, resume: bool) -> Iterator[Path]:
    """Take a new or empty folder, or one with checkpoints; bad input leaves it as it was found."""
    if out.exists() and not out.is_dir():
        raise BadInput("this is no folder.", file=str(out))
    there, taken = out.is_dir(), out.is_dir() and any(out.iterdir())
    if taken and not resume:
        raise BadInput("the folder is not empty.", file=str(out), remedy="Give a new folder, or --resume.")
    checkpoints = out / CHECKPOINTS
    if taken and not checkpoints.is_dir():
        raise BadInput("the folder has no checkpoints.", file=str(out), remedy="Give a new folder.")
    try:
        checkpoints.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot be made: {error.strerror}.", file=str(out)) from error
    try:
        yield checkpoints
    except BadInput:
        if not taken:
            shutil.rmtree(checkpoints if there else out)
        raise


def _rows(codec: Codec, sentences: list[str], context: int) -> tuple[list[list[int]], int]:
    """Sentences between marks, and how many are longer than the context; none is cut."""
    every = [[codec.end, *ids, codec.end] for ids in codec.encode(sentences) if ids]
    rows = [row for row in every if not context or len(row) - 1 <= context]
    return rows, len(every) - len(rows)


def _characters(codec: Codec, sentences: list[str], context: int) -> int:
    cut = zip(sentences, codec.encode(sentences), strict=True)
    return sum(len(one) for one, ids in cut if ids and (not context or len(ids) + 1 <= context))


def _unknown(codec: Any) -> int:
    """The number of ``<unk>``; -1 where no token is unknown."""
    if hasattr(codec, "unknown"):
        return int(codec.unknown)
    number = codec.tokenizer.token_to_id("<unk>")
    return -1 if number is None else int(number)


def _unigram_perplexity(single: Any, rows: list[list[int]]) -> float:
    values = np.concatenate([single[row[1:]] for row in rows])
    return float(np.exp(-values.mean()))


def _publish(out: Path, report: dict[str, Any], write: Callable[[Path], None]) -> None:
    """Write all files aside, then put them in their places, the report last."""
    try:
        with tempfile.TemporaryDirectory(dir=out / CHECKPOINTS) as aside:
            folder = Path(aside)
            write(folder)
            written = sorted(folder.iterdir())
            text = json.dumps(report, indent=2, allow_nan=False)
            (folder / REPORT).write_text(text + "\n", encoding="utf-8")
            for file in [*written, folder / REPORT]:
                file.chmod(0o644)
                file.replace(out / file.name)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}.", file=str(out)) from error
