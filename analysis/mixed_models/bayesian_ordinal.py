"""Bayesian cumulative link models of ordered ratings, sampled by PyMC, which is an extra."""

import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from ..errors import BadInput
from ..rows import Codes, Floats, group_codes

INSTALL = "Run make install-bayes, or pip install 'pymc<6'."
CHAINS, DRAWS = 4, 1000
MAX_R_HAT, MIN_ESS = 1.01, 400  # Vehtari et al. 2021
PRIORS = {
    "beta": "normal(0, 2.5)",
    "thresholds": "Student t(3, 0, 2.5), ordered",
    "sd": "half Student t(3, 2.5)",
}


def require_pymc() -> None:
    """Raise :class:`~obelus.errors.BadInput` that says what to install, if PyMC is absent."""
    if find_spec("pymc") is None:
        raise BadInput("the Bayesian model needs the package pymc, which is not installed.", remedy=INSTALL)


def bayesian_ordinal_model(
    ratings: Sequence[float],
    condition: Sequence[float],
    *,
    groups: Mapping[str, Sequence[Any]],
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, Any]:
    """Sample the posterior of logit P(Y ≤ j) = θ_j - (β x + random effects).

    Parameters
    ----------
    ratings : sequence of float
        Ordered categories; those that occur are the categories of the model.
    condition : sequence of float
        The predictor x, for example 1/2 and -1/2.
    groups : mapping of sequences
        Group of each rating by factor (``participant``, ``item``): random intercepts, and a slope of the
        predictor where it varies within at least two of the groups. They are not correlated.
    draws : int
        Draws of each of four chains, after as many for tuning.
    seed : int
        Of the sampler; the same seed gives the same draws with the same version of PyMC.

    Returns
    -------
    dict
        ``beta``, ``sd`` of its posterior, ``ci_low`` and ``ci_high`` (95 %, equal tails), ``above_zero``
        (share of the posterior), ``thresholds``, ``deviations`` (SD of the random effects, by term, with
        intervals), ``r_hat``, ``ess`` and ``divergences`` of the sampler, and ``status``: ``ok`` or
        ``not_converged`` (r_hat above 1.01, fewer than 400 effective draws, or a divergence).

    Raises
    ------
    BadInput
        If PyMC is not installed.

    Notes
    -----
    Priors: β normal(0, 2.5) logits; thresholds Student t(3, 0, 2.5) and standard deviations half Student
    t(3, 2.5), as in brms.

    References
    ----------
    Bürkner & Vuorre (2019), "Ordinal regression models in psychology: a tutorial", AMPPS 2; Vehtari et al.
    (2021), "Rank-normalization, folding, and localization: an improved R-hat", Bayesian Analysis 16.
    """
    require_pymc()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ announces its next version at each import
        import arviz
        import pymc

    category = np.unique(np.asarray(ratings, float), return_inverse=True)[1]
    x = np.asarray(condition, float)
    shares = np.cumsum(np.bincount(category))[:-1] / len(category)
    terms: list[str] = []
    with pymc.Model():
        location = pymc.Normal("beta", 0, 2.5) * x
        thresholds = pymc.StudentT(
            "thresholds",
            nu=3,
            mu=0,
            sigma=2.5,
            shape=len(shares),
            transform=pymc.distributions.transforms.ordered,
            initval=np.log(shares / (1 - shares)),
        )
        for factor, group in groups.items():
            codes, labels = group_codes(pd.Series(list(group)))
            for term, multiplier in _random_terms(factor, codes, x).items():
                deviation = pymc.HalfStudentT(f"sd {term}", nu=3, sigma=2.5)
                effects = pymc.Normal(f"effects {term}", shape=len(labels))
                location += multiplier * deviation * effects[codes]
                terms.append(term)
        pymc.OrderedLogistic("rating", eta=location, cutpoints=thresholds, observed=category, compute_p=False)
        # Numba, because PyTensor's own compilation needs a C++ compiler; one process, because workers may
        # not start others.
        sampled = pymc.sample(
            draws,
            tune=draws,
            chains=CHAINS,
            cores=1,
            target_accept=0.9,
            random_seed=seed,
            progressbar=False,
            compile_kwargs={"mode": "NUMBA"},
        )
    names = ["beta", "thresholds", *(f"sd {term}" for term in terms)]
    beta = sampled.posterior["beta"].to_numpy().ravel()
    r_hat = float(arviz.rhat(sampled, var_names=names).to_array().max())
    ess = min(
        float(arviz.ess(sampled, var_names=names, method=method).to_array().min())
        for method in ("bulk", "tail")
    )
    divergences = int(sampled.sample_stats["diverging"].sum())
    has_converged = r_hat <= MAX_R_HAT and ess >= MIN_ESS and not divergences
    return {
        "beta": float(beta.mean()),
        "sd": float(beta.std(ddof=1)),
        **_interval(beta),
        "above_zero": float((beta > 0).mean()),
        "thresholds": sampled.posterior["thresholds"].mean(("chain", "draw")).to_numpy().tolist(),
        "deviations": [
            {"term": term, "sd": float(draws_of_term.mean()), **_interval(draws_of_term)}
            for term in terms
            for draws_of_term in [sampled.posterior[f"sd {term}"].to_numpy().ravel()]
        ],
        "r_hat": r_hat,
        "ess": ess,
        "divergences": divergences,
        "status": "ok" if has_converged else "not_converged",
    }


def _random_terms(factor: str, codes: Codes, x: Floats) -> dict[str, Any]:
    """Return the multipliers of a factor's random effects: an intercept, a slope where x varies within."""
    values = pd.Series(x).groupby(codes).nunique()
    return {factor: 1.0} | ({f"{factor}:condition": x} if (values > 1).sum() >= 2 else {})


def _interval(draws: Floats) -> dict[str, float]:
    low, high = np.quantile(draws, [0.025, 0.975])
    return {"ci_low": float(low), "ci_high": float(high)}
