"""The comparison of models with humans as one JSON document, for page, command, API and notebook."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ..errors import BadInput, UnknownName
from ..multiple_tests import simultaneous_level
from ..reliability.halves import NoiseCeiling
from ..table_forms import media_columns
from .adc_curve import adc_area
from .baselines import (
    PERMUTATIONS,
    Constant,
    constant_baseline,
    held_out_mean,
    permutation_chance,
    recalibrated_adc,
    skill,
)
from .ceilings.human import HumanCeiling, human_ceiling
from .ceilings.noise import correlation_ceilings
from .correlation import association, correlation_rows
from .criteria import Signs, acceptability_delta_criterion, adc_shares
from .intervals import FEWEST_CLUSTERS, FOLDS, cluster_basis, cluster_intervals, correlation_interval
from .joint_intervals import HALF_SAMPLES, CeilingIntervals, JointIntervals, joint_intervals
from .model_differences import blimp_differences, model_differences
from .pairs import (
    PairTable,
    is_lower_for_good,
    left_out,
    pair_table,
    standardization,
    warn_of_signs,
)

Counted = npt.NDArray[np.bool_]


def by_paradigm(
    table: PairTable, model: str, is_counted: Counted, *, deltas: Sequence[float], signs: Signs
) -> list[dict[str, Any]]:
    """Return a model's criteria within each paradigm, with Wilson intervals.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22. Warstadt et al. (2020), "BLiMP", TACL
    8.
    """
    if "paradigm" not in table.pairs.columns:
        return []
    rows = []
    for paradigm, places in table.pairs[is_counted].groupby("paradigm", sort=True).groups.items():
        rows.append(_row(table, model, str(paradigm), list(places), deltas=deltas, signs=signs))
    return rows


def by_phenomenon(
    table: PairTable, model: str, is_counted: Counted, *, deltas: Sequence[float], signs: Signs
) -> list[dict[str, Any]]:
    """Return the unweighted mean of the paradigms of each phenomenon, as BLiMP does.

    Notes
    -----
    ``phenomenon``, ``paradigms``, ``pairs``, ``blimp``, ``adc``; empty when the pairs name no phenomenon.
    Without paradigms the pairs of a phenomenon are averaged.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.
    """
    if "phenomenon" not in table.pairs.columns:
        return []
    unit = "paradigm" if "paradigm" in table.pairs.columns else "phenomenon"
    phenomena = []
    for phenomenon, members in table.pairs[is_counted].groupby("phenomenon", sort=True):
        rows = [
            _row(table, model, str(name), list(places), deltas=deltas, signs=signs)
            for name, places in members.groupby(unit).groups.items()
        ]
        phenomena.append({
            "phenomenon": str(phenomenon),
            "paradigms": len(rows),
            "pairs": len(members),
            "blimp": _mean([row["blimp"] for row in rows]),
            "adc": {key: _mean([row["adc"][key] for row in rows]) for key in rows[0]["adc"]},
        })  # fmt: skip
    return phenomena


def _row(
    table: PairTable, model: str, name: str, places: list[int], *, deltas: Sequence[float], signs: Signs
) -> dict[str, Any]:
    prefers = table.prefers_good[model].loc[places].to_numpy(dtype=float)
    human = table.human_delta.loc[places].to_numpy(dtype=float)
    adc = adc_shares(
        human, table.model_delta[model].loc[places].to_numpy(dtype=float), deltas=deltas, signs=signs
    )
    right = int(np.nansum(prefers))
    interval = scipy.stats.binomtest(right, len(places)).proportion_ci(method="wilson")
    labeled = human[~np.isnan(human)]
    return {
        "paradigm": name,
        "phenomenon": _phenomenon(table.pairs, places),
        "pairs": len(places),
        "blimp": right / len(places),
        "ci_low": float(interval.low),
        "ci_high": float(interval.high),
        "adc": {format(delta, "g"): value for delta, value in adc.items()},
        "people_prefer_good": float((labeled > 0).mean()) if labeled.size else None,
    }


def _phenomenon(pairs: pd.DataFrame, places: list[int]) -> str | None:
    if "phenomenon" not in pairs.columns or pd.isna(pairs["phenomenon"].loc[places[0]]):
        return None
    return str(pairs["phenomenon"].loc[places[0]])


def _mean(values: list[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


AREA_TO = 3.0  # standard deviations


def conventions(table: PairTable, *, signs: Signs, seed: int, ceiling: HumanCeiling | None) -> dict[str, Any]:
    """Describe the conventions behind the numbers of a comparison.

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP; Warstadt et al. (2020), TACL 8.
    """
    clustered = cluster_basis(table.pairs)
    return {
        "blimp": "good > bad, equal scores fail",
        "adc": "sign(Δh) = sign(Δlm) and |Δh - Δlm| < δ",
        "signs": signs,
        "missing": "leaves the denominator and is counted",
        "constant": "median Δh",
        "chance": f"mean of {PERMUTATIONS} permutations of the model's own sentence scores",
        "recalibrated": f"a line from Δlm to Δh, fitted on the other families of pairs ({FOLDS} folds); "
        "beside it the constant that is people's mean in these families",
        "intervals": f"95 %, clusters by {clustered}: Wilson with the effective number of pairs, of r the "
        f"jackknife; t on clusters - 1; none below {FEWEST_CLUSTERS} clusters (too few)",
        "joint_intervals": None
        if ceiling is None
        else f"95 %, {HALF_SAMPLES} half-samples of participants within list and the jackknife over "
        "clusters, t on the smaller number less 1",
        "clusters": int(table.clusters.nunique()),
        "ceiling": None
        if ceiling is None
        else f"{ceiling.basis.replace('_', ' ')}: split halves within list, {ceiling.splits} splits, "
        "size-corrected; of r: root of split-half reliability (Spearman-Brown)",
        "area_to": AREA_TO,
        "seed": seed,
    }


Document = dict[str, Any]


def compare_report(
    human: pd.DataFrame | None,
    pairs: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    already_standardized: bool = False,
    signs: Signs = "strict",
    deltas: Sequence[float] = (0.5, 1, 5),
    judgments: pd.DataFrame | None = None,
    constants: Sequence[float] = (),
    seed: int = 0,
) -> Document:
    """Compare models with human judgments on minimal pairs.

    Parameters
    ----------
    human : DataFrame or None
        ``sentence_id`` and ``score`` (mean of standardized ratings), used as given. Without it only the
        BLiMP criterion is computed; numbers about human scores are None.
    pairs : DataFrame, one row per minimal pair
        ``pair_id``, ``good_id``, ``bad_id``, optionally ``paradigm`` and ``phenomenon``.
    scores : DataFrame, one row per sentence
        ``sentence_id`` and one column of scores per model; higher is more acceptable.
    already_standardized : bool
        Whether model scores are used as given instead of being standardized over all their sentences.
    signs : {"strict", "published"}
        How differences of zero are treated. ``strict``: both differences must be non-zero and have the
        same sign. ``published``: the test is ``(human > 0) == (model > 0)``, which accepts a zero beside
        a negative difference and reproduces the published table.
    deltas : sequence of float
        Values of δ at which the ADC is computed, in standard deviations.
    judgments : DataFrame, optional
        Ratings or choices by participant, from which the human ceiling is estimated; without them skill is
        undefined.
    constants : sequence of float
        Further constant predictions to evaluate as baselines beside the median.
    seed : int
        Seed of permutations, bootstrap and split halves.

    Returns
    -------
    dict
        Ready for JSON: ``pairs``, ``labeled_pairs``, ``standardization``, ``models``, ``baselines``;
        beside these ``differences``, ``correlations``, ``left_out``, ``conventions`` and ``media``, the
        columns of the pairs that name files of sound or picture, which models do not read.
        Undefined numbers are None.

    Raises
    ------
    MissingColumns, BadInput, NotEnoughData
        If the frames cannot be compared.

    Warns
    -----
    UserWarning
        Of a model whose scores are all positive, named as surprisal, perplexity or loss, or lower for nearly
        all good members, as if their sign were wrong; not where ``scores.attrs["signs"]`` has its sign, as
        after :func:`obelus.comparison.files.read_scores`.

    Notes
    -----
    All numbers of a model are over its labelled pairs; if no pair is labelled, over all its pairs
    (``blimp_all_pairs`` is always over all pairs).

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8. Vázquez Martínez (2021), the Acceptability Delta Criterion.

    Examples
    --------
    >>> names = [f"s{n}" for n in range(8)]
    >>> human = pd.DataFrame({"sentence_id": names, "score": [1, -1] * 4})
    >>> pairs = pd.DataFrame({"pair_id": range(4), "good_id": names[::2], "bad_id": names[1::2]})
    >>> scores = pd.DataFrame({"sentence_id": names, "model": [-9, -12, -8, -12, -9, -11, -12, -10]})
    >>> model = compare_report(human, pairs, scores)["models"][0]
    >>> model["blimp"], model["adc"]["1"]
    (0.75, 0.75)
    """
    table = pair_table(human, pairs, scores, already_standardized=already_standardized)
    warn_of_signs(table, scores.attrs.get("signs", {}))
    return comparison_document(
        table, signs=signs, deltas=deltas, judgments=judgments, constants=constants, seed=seed
    )


def comparison_document(
    table: PairTable,
    *,
    signs: Signs = "strict",
    deltas: Sequence[float] = (0.5, 1, 5),
    judgments: pd.DataFrame | None = None,
    constants: Sequence[float] = (),
    seed: int = 0,
) -> Document:
    """Compare models with humans on joined pairs; the document of :func:`compare_report`."""
    deltas = _check_deltas(deltas, signs)
    constant = constant_baseline(table.human_delta, deltas=deltas, signs=signs)
    fixed = [constant_baseline(table.human_delta, value, deltas=deltas, signs=signs) for value in constants]
    ceiling = (
        human_ceiling(judgments, table.pairs, rng=_rng(seed, "ceiling"), deltas=deltas, signs=signs)
        if judgments is not None
        else None
    )
    models = [
        _model(table, name, deltas=deltas, signs=signs, constant=constant, ceiling=ceiling, seed=seed)
        for name in table.models
    ]
    is_counted = np.asarray(table.is_labeled | (not table.is_labeled.any()), dtype=bool)
    noise, ends = None, None
    if judgments is not None:
        noise = correlation_ceilings(judgments, table.pairs, rng=_rng(seed, "correlations"))["deltas"]
        joint, ends = joint_intervals(
            judgments,
            table,
            rng=_rng(seed, "joint"),
            ceiling=ceiling,
            reliability=noise["reliability"],
            deltas=deltas,
            signs=signs,
        )
        models = [
            model | {"intervals": model["intervals"] | _joint(joint[model["model"]])} for model in models
        ]
    noise_ceiling = NoiseCeiling(None if noise is None else noise["model"], None)
    models = [
        model | {"pearson_r_disattenuated": noise_ceiling.disattenuate(model["pearson_r"])}
        for model in models
    ]
    return {
        "pairs": len(table.pairs),
        "labeled_pairs": int(table.is_labeled.sum()),
        "standardization": standardization(table),
        "models": models,
        "inverted": [name for name in table.models if is_lower_for_good(table, name)],
        "media": media_columns(table.pairs),
        "baselines": {
            "constant": _constant(constant),
            "constant_recalibrated": _recalibrated_constant(table, deltas=deltas, signs=signs),
            "constants": [_constant(baseline) for baseline in fixed],
            "human_ceiling": None
            if ceiling is None or ends is None
            else _ceiling(ceiling) | {"correlation": noise, "intervals": _ceiling_intervals(ends)},
        },
        "differences": model_differences(table, deltas=deltas, signs=signs, rng=_rng(seed, "flips")),
        "differences_blimp": blimp_differences(table, is_counted, rng=_rng(seed, "flips of blimp")),
        "correlations": correlation_rows(_judges(table)),
        "left_out": left_out(table),
        "conventions": conventions(table, signs=signs, seed=seed, ceiling=ceiling),
    }


def _check_deltas(deltas: Sequence[float], signs: str) -> list[float]:
    if signs not in get_args(Signs):
        raise UnknownName("treatment of signs", signs, get_args(Signs))
    for delta in deltas:
        if not 0 < delta < float("inf"):
            raise BadInput(f"δ must be a positive number, got {delta:g}.", column="delta")
    return list(dict.fromkeys(float(delta) for delta in deltas))


def delta_key(delta: float) -> str:
    """Format δ as a key of the document.

    Examples
    --------
    >>> [delta_key(0.5), delta_key(5.0)]
    ['0.5', '5']
    """
    return format(delta, "g")


def _model(
    table: PairTable,
    name: str,
    *,
    deltas: Sequence[float],
    signs: Signs,
    constant: Constant,
    ceiling: HumanCeiling | None,
    seed: int,
) -> Document:
    human = table.human_delta.to_numpy(dtype=float)
    model = table.model_delta[name].to_numpy(dtype=float)
    prefers = table.prefers_good[name].to_numpy(dtype=float)
    # Labelled pairs only; without any label, every pair that the model scored.
    is_counted = ~np.isnan(prefers) & (table.is_labeled | (not table.is_labeled.any()))
    adc = adc_shares(human, model, deltas=deltas, signs=signs)
    chance = _chance(table, name, deltas=deltas, signs=signs, seed=seed)
    people = ceiling.adc if ceiling is not None else {}
    line = association(human, model)
    return {
        "model": name,
        "pairs": int(is_counted.sum()),
        "left_out": len(table.pairs) - int(is_counted.sum()),
        "sentences": int(table.scores[name].notna().sum()),
        "blimp": float(prefers[is_counted].mean()) if is_counted.any() else None,
        "blimp_all_pairs": float(np.nanmean(prefers)) if not np.isnan(prefers).all() else None,
        "equal_scores": int((model[is_counted] == 0).sum()),
        "adc": _key_by_delta(adc),
        "adc_area": adc_area(human, model, delta_max=AREA_TO, signs=signs),
        "adc_recalibrated": _key_by_delta(
            recalibrated_adc(human, model, table.clusters, deltas=deltas, signs=signs)
        ),
        "pearson_r": line["pearson_r"],
        "spearman_r": line["spearman_r"],
        "mean_abs_difference": line["mean_abs_difference"],
        "slope": line["slope"],
        "intercept": line["intercept"],
        # Standardized scores of such a model are undefined, so that association() sees no data.
        "status": "constant" if table.scores[name].nunique() == 1 else line["status"],
        "chance": chance["adc"],
        "chance_interval": chance["interval"],
        "chance_blimp": chance["blimp"],
        "skill": _key_by_delta(skill(adc, constant.adc, people)),
        "intervals": _intervals(table, name, is_counted, deltas=deltas, signs=signs)
        | {"simultaneous": _simultaneous(table, name, is_counted, deltas=deltas, signs=signs)},
        "by_phenomenon": by_phenomenon(table, name, is_counted, deltas=deltas, signs=signs),
        "by_paradigm": by_paradigm(table, name, is_counted, deltas=deltas, signs=signs),
    }


def _chance(table: PairTable, name: str, *, deltas: Sequence[float], signs: Signs, seed: int) -> Document:
    chance = permutation_chance(
        *table.permutation_arrays(name), rng=_rng(seed, "chance"), deltas=deltas, signs=signs
    )
    interval = {
        delta_key(delta): None if bounds is None else list(bounds)
        for delta, bounds in chance.interval.items()
    }
    return {"adc": _key_by_delta(chance.adc), "interval": interval, "blimp": chance.blimp}


def _simultaneous(
    table: PairTable, name: str, is_counted: Counted, *, deltas: Sequence[float], signs: Signs
) -> Document | None:
    """Return the intervals that hold for all models together, and so for the best one; None for one model."""
    n = len(table.models)
    if n < 2:
        return None
    level = simultaneous_level(n)
    ends = _intervals(table, name, is_counted, deltas=deltas, signs=signs, confidence=level)
    return {"models": n, **{key: ends[key] for key in ("blimp", "adc", "pearson_r")}}


def _intervals(
    table: PairTable,
    name: str,
    is_counted: Counted,
    *,
    deltas: Sequence[float],
    signs: Signs,
    confidence: float = 0.95,
) -> Document:
    human = table.human_delta.to_numpy(dtype=float)
    model = table.model_delta[name].to_numpy(dtype=float)
    prefers = np.where(is_counted, table.prefers_good[name].to_numpy(dtype=float), np.nan)
    passes = [
        acceptability_delta_criterion(human, model, delta=delta, signs=signs).to_numpy(
            dtype=float, na_value=np.nan
        )
        for delta in deltas
    ]
    columns = np.column_stack([prefers, *passes])
    n_clusters = int(table.clusters[~np.isnan(prefers)].nunique())
    bounds = cluster_intervals(table.clusters, columns, confidence=confidence)
    intervals = [None if np.isnan(low) else [float(low), float(high)] for low, high in bounds]
    low, high = correlation_interval(table.clusters, human, model, confidence=confidence)
    return {
        "blimp": intervals[0],
        "adc": {delta_key(delta): bounds for delta, bounds in zip(deltas, intervals[1:], strict=True)},
        "pearson_r": None if low is None else [low, high],
        "joint": None,
        "clusters": n_clusters,
        "status": "too_few" if n_clusters < FEWEST_CLUSTERS else "ok",
    }


def _joint(joint: JointIntervals) -> Document:
    numbers = {
        "adc": {delta_key(delta): bounds for delta, bounds in joint.adc.items()},
        "pearson_r": joint.pearson_r,
        "skill": {delta_key(delta): bounds for delta, bounds in joint.skill.items()},
        "pearson_r_disattenuated": joint.pearson_r_disattenuated,
    }
    return {"joint": {**numbers, "participants": joint.participants, "status": joint.status}}


def _ceiling_intervals(ends: CeilingIntervals) -> Document:
    adc = {delta_key(delta): bounds for delta, bounds in ends.adc.items()}
    return {"adc": adc, "model": ends.model, "sample": ends.sample}


def _judges(table: PairTable) -> pd.DataFrame:
    judges = table.model_delta.copy()
    if table.is_labeled.any():
        judges.insert(0, "people", table.human_delta.to_numpy())
    return judges


def _recalibrated_constant(table: PairTable, *, deltas: Sequence[float], signs: Signs) -> Document:
    human = table.human_delta.to_numpy(dtype=float)
    adc = adc_shares(human, held_out_mean(human, table.clusters), deltas=deltas, signs=signs)
    return {"adc": _key_by_delta(adc)}


def _constant(constant: Constant) -> Document:
    return {"value": constant.value, "blimp": constant.blimp, "adc": _key_by_delta(constant.adc)}


def _ceiling(ceiling: HumanCeiling) -> Document:
    return {
        "adc": _key_by_delta(ceiling.adc),
        "adc_half": _key_by_delta(ceiling.adc_half),
        "participants": ceiling.participants,
        "pairs": ceiling.pairs,
        "splits": ceiling.splits,
        "noise_variance": ceiling.noise_variance,
        "basis": ceiling.basis,
        "status": ceiling.status,
    }


def _key_by_delta(values: Mapping[float, float | None]) -> dict[str, float | None]:
    return {delta_key(delta): value for delta, value in values.items()}


def _rng(seed: int, use: str) -> np.random.Generator:
    """Return an independent random stream for one use."""
    # One stream per use: a new use leaves the numbers of the others unchanged.
    return np.random.default_rng([seed, *use.encode()])
