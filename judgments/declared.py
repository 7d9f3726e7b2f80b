"""What a study declares about its answers: how both and neither count, and whose modulus it is."""

from typing import Any

import numpy as np
import pandas as pd

from experiments.models import Experiment
from judgments.sessions.warm_up import own_moduli
from judgments.tasks.forced_choice import offered
from judgments.tasks.registry import shown_task


def treatment_of(experiment: Experiment) -> str:
    """How the study counts both and neither; empty where it offers none of them."""
    usual = {one.name: one.default for one in shown_task(experiment.task).parameters}
    if "undecided" not in usual:
        return ""
    settings = {**usual, **experiment.parameters}
    return str(settings["undecided"]) if offered(settings) else ""


def moduli_of(experiment: Experiment, sessions: pd.Series) -> Any:
    """Number of the reference sentence by row: the person's own where one was chosen, else the study's."""
    if experiment.task != "magnitude_estimation":
        return np.nan
    given = experiment.parameters.get("modulus")
    usual = float(given) if given is not None else np.nan
    if not experiment.parameters.get("own_modulus"):
        return usual
    return sessions.map(own_moduli(experiment)).astype("float64").fillna(usual)
