"""Fine-tune a classifier of acceptability, several times over, and keep the best by its development MCC."""

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from analysis.comparison.mcc import Matthews, matthews_correlation
from analysis.errors import BadInput
from analysis.scoring.neural.loading import need
from analysis.training.cola import Labelled

TINY, REPORT, LONGEST = "tiny", "training.json", 128
NAMES = {0: "unacceptable", 1: "acceptable"}
Progress = Callable[[int, int], None]  # restart, epoch


@dataclass(frozen=True)
class Tuning:
    """How to fine-tune: the defaults are those of BERT's authors; fresh weights need a higher rate."""

    restarts: int = 5
    seed: int = 1
    epochs: int = 4
    patience: int = 2
    batch: int = 32
    lr: float = 2e-5

    def __post_init__(self) -> None:
        for name in ("restarts", "epochs", "patience", "batch"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}.", remedy="It must be 1 or more.")
        if self.seed < 0:
            raise BadInput(f"seed is {self.seed}.", remedy="It must be 0 or more.")
        if not 0 < self.lr < 1:
            raise BadInput(f"lr is {self.lr}.", remedy="It lies between 0 and 1, such as 0.00002.")


def train_classifier(
    train: Labelled,
    development: Labelled,
    model: str,
    out: str | Path,
    *,
    tuning: Tuning,
    test: Labelled | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Fine-tune a model with several seeds and save the best.

    Parameters
    ----------
    train, development : Labelled
        From :func:`analysis.training.cola.read_cola`; the development part chooses epoch and restart.
    model : str
        A name of the hub (``name@revision``), a folder, such as one that ``train_lm`` wrote, or ``tiny``:
        a small encoder with fresh weights and words of the training part.
    out : str or Path
        A folder that is new or empty.
    tuning : Tuning
    test : Labelled, optional
        Measured once, with the model that was chosen.
    device : {"auto", "cpu", "cuda"}
    progress : callable, optional
        Told restart and epoch.

    Returns
    -------
    dict
        Also written as ``training.json``: MCC, status and accuracy of each restart, the one chosen, the test,
        how many sentences were cut because the model reads no longer ones (``n_cut``).

    Raises
    ------
    BadInput
        If packages are missing, the folder is taken, the model cannot be opened or the loss is not finite.

    Notes
    -----
    Fine-tuning fails from some seeds: the classifier says the same of every sentence and MCC is 0
    (``degenerate``). So the best of several is taken, as in the ADC paper; because the development part
    chose it, its MCC there is too good, and only a test part says how good it is.

    References
    ----------
    Devlin et al. (2019), NAACL, appendix A.3; Warstadt, Singh & Bowman (2019), TACL 7;
    Vázquez Martínez (2021), *The Acceptability Delta Criterion*.
    """
    need("torch")
    need("transformers")
    from analysis.training.tuning import Restart, Tuner

    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput("the folder is not empty.", file=str(out), remedy="Give a new folder.")
    both = {tuple(sorted(set(part.labels))) for part in (train, development)}
    if both != {(0, 1)}:
        raise BadInput("a part has only one label.", remedy="Give sentences of both, in both parts.")
    tuner = Tuner(model, train, development, tuning=tuning, device=device)
    restarts: list[dict[str, Any]] = []

    def once(number: int) -> Restart:
        seed = tuning.seed + number
        found = tuner.run(seed, told=None if progress is None else partial(progress, number))
        restarts.append({"seed": seed, **found.report})
        return found

    best = once(0)
    for number in range(1, tuning.restarts):
        found = once(number)
        best = found if found.report["mcc"] > best.report["mcc"] else best
    tuner.load(best)
    report: dict[str, Any] = {
        "base": model,
        "restarts": restarts,
        "chosen_seed": best.seed,
        "development_mcc": best.report["mcc"],
        "n_train": len(train.labels),
        "n_development": len(development.labels),
        "n_cut": tuner.n_cut,
        "test": None if test is None else measured(test.labels, tuner.decide(test.sentences)),
    }
    _publish(out, report, tuner.save)
    return {"model": f"hf-classifier:{out}", **report}


def measured(labels: Sequence[int], decisions: Sequence[int]) -> dict[str, Any]:
    """MCC, its status, accuracy and the number of sentences."""
    found: Matthews = matthews_correlation(labels, decisions)
    right = float(np.mean(np.asarray(labels) == np.asarray(decisions)))
    return {"mcc": found.mcc or 0.0, "status": found.status, "accuracy": right, "n": found.n}


def _publish(out: Path, report: dict[str, Any], save: Callable[[Path], None]) -> None:
    """The folder appears complete or not at all."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as aside:
            folder = Path(aside) / "model"
            folder.mkdir()
            save(folder)
            text = json.dumps(report, indent=2, allow_nan=False)
            (folder / REPORT).write_text(text + "\n", encoding="utf-8")
            for file in folder.iterdir():
                file.chmod(0o644)
            folder.replace(out)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}.", file=str(out)) from error
