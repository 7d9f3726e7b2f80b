"""Fine-tuning of acceptability classifiers with several restarts, of which the best is saved."""

import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ..comparison.breakdowns.classifiers import restart_summary
from ..errors import BadInput
from ..scoring.neural.loading import import_optional
from .cola import Labelled, evaluate
from .plan import Tuning

REPORT, DECISIONS = "training.json", "test_decisions.csv"
Progress = Callable[[int, int], None]  # restart, epoch


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
        From :func:`obelus.training.cola.read_cola`; the development set selects epoch and restart.
    model : str
        A name of the hub (``name@revision``), a folder, such as one that ``train_lm`` wrote, or ``tiny``:
        a small encoder with random weights and a vocabulary from the training set.
    out : str or Path
        A new or empty folder.
    tuning : Tuning
        Restarts, seeds and hyperparameters.
    test : Labelled, optional
        Never selects anything. Evaluated with the selected model, and with every restart
        (``test_restarts``); the decisions of every restart are written as ``test_decisions.csv``, a row for
        each sentence and a column for each seed.
    device : {"auto", "cpu", "cuda"}
        Where to train; ``auto`` uses an accelerator if there is one.
    progress : callable, optional
        Called with restart and epoch.

    Returns
    -------
    dict
        Also written as ``training.json``: MCC, status and accuracy of each restart, the selected one and
        the test set, there also mean, SD, maximum and ensemble (majority decision) over restarts, and how
        many sentences were truncated to the maximum length of the model (``n_cut``).

    Raises
    ------
    BadInput
        If packages are missing, the folder is not empty, the model cannot be opened or the loss is not
        finite.

    Notes
    -----
    Fine-tuning fails from some seeds: the classifier predicts one label for every sentence and MCC is 0
    (``degenerate``). Therefore the best of several is selected, as in the ADC paper; its development MCC is
    biased upwards by the selection, and only a test set gives an unbiased estimate.

    References
    ----------
    Devlin et al. (2019), NAACL, appendix A.3; Warstadt, Singh & Bowman (2019), TACL 7;
    Vázquez Martínez (2021), *The Acceptability Delta Criterion*.
    """
    import_optional("torch")
    import_optional("transformers")
    from .tuner import Restart, Tuner

    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput("the folder is not empty.", file=str(out), remedy="Give a new folder.")
    if any(set(part.labels) != {0, 1} for part in (train, development)):
        raise BadInput("a part has only one label.", remedy="Give sentences of both, in both parts.")
    tuner = Tuner(model, train, development, tuning=tuning, device=device)
    restarts: list[dict[str, Any]] = []
    decisions: dict[str, list[int]] = {}

    def run(number: int) -> Restart:
        seed = tuning.seed + number
        restart = tuner.run(seed, progress=None if progress is None else partial(progress, number))
        restarts.append({"seed": seed, **restart.report})
        if test is not None:
            tuner.load(restart)
            decisions[str(seed)] = tuner.decide(test.sentences)
        return restart

    best = run(0)
    for number in range(1, tuning.restarts):
        restart = run(number)
        best = restart if restart.report["mcc"] > best.report["mcc"] else best
    tuner.load(best)
    report: dict[str, Any] = {
        "base": model,
        "restarts": restarts,
        "chosen_seed": best.seed,
        "development_mcc": best.report["mcc"],
        "n_train": len(train.labels),
        "n_development": len(development.labels),
        "n_cut": tuner.n_cut,
        "test": None if test is None else evaluate(test.labels, decisions[str(best.seed)]),
        "test_restarts": None
        if test is None
        else restart_summary(pd.Series(test.labels), pd.DataFrame(decisions)),
    }
    _publish(out, report, tuner.save, decisions=decisions)
    return {"model": f"hf-classifier:{out}", **report}


def _publish(
    out: Path, report: dict[str, Any], save: Callable[[Path], None], *, decisions: dict[str, list[int]]
) -> None:
    """Write the folder under a temporary name and rename it, so that it appears complete or not at all."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as temporary:
            folder = Path(temporary) / "model"
            folder.mkdir()
            save(folder)
            text = json.dumps(report, indent=2, allow_nan=False)
            (folder / REPORT).write_text(text + "\n", encoding="utf-8")
            if decisions:
                pd.DataFrame(decisions).to_csv(folder / DECISIONS, index=False, lineterminator="\n")
            for file in folder.iterdir():
                file.chmod(0o644)  # temporary files are private, models are shared
            folder.replace(out)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}.", file=str(out)) from error
