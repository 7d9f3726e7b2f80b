"""Report of groups: effects by group, items that function differently, and who is compared."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..columns import require_columns
from ..errors import BadInput, NotEnoughData
from .effects import group_effects
from .grouping import MIN_PARTICIPANTS, Grouping, group_participants
from .item_functioning import item_functioning

CONVENTIONS = {
    "effects": "effect in the group minus that in the reference; mixed model with both coded by 1/2 and "
    "-1/2, largest supported slopes without correlations; yes-no in logits; choices: share",
    "items": "Mantel-Haenszel chi-square with continuity correction (choices, yes-no as expected), Mantel's "
    "chi-square (ratings as given), at up to five levels of the participant's overall judgment",
    "classes": "ETS: A negligible, B moderate, C large",
    "correction": "Holm and Benjamini-Hochberg over contrasts and groups, and over items and groups",
    "groups": f"answers of fewer than {MIN_PARTICIPANTS} participants are left out; numbers are divided "
    "after their median unless cuts are given; the reference is the largest group unless it is named",
}


def groups_report(
    judgments: pd.DataFrame,
    *,
    group: str = "",
    background: pd.DataFrame | None = None,
    reference: str = "",
    cuts: Sequence[float] = (),
    by: str = "phenomenon",
    transform: str = "z",
    correction: str = "holm",
    experiment: str = "",
) -> dict[str, Any]:
    """Compare effects and items between groups of participants, such as dialects or ages.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant``, ``item`` and ``value``, and ``expected`` for ratings and yes-no.
    group : str
        A question of ``background`` or a column of the judgments with one value for each participant. By
        default the first that gives two groups of at least five participants.
    background : DataFrame, optional
        ``participant`` and one column for each question.
    reference : str
        The group that the others are compared with; by default the largest.
    cuts : sequence of float
        Highest number of each range but the last, for groups by a number; by default the median.
    by : {"phenomenon", "paradigm"}
        Column that defines the contrasts.
    transform : {"z", "z-log", "raw", "robust-z", "rank-normal"}
        Scale of ratings in the effects; items are tested on ratings as given.
    correction : {"holm", "bh"}
        Correction for several tests in ``summary``; the rows have both.
    experiment : str
        Name of the study, copied into the document.

    Returns
    -------
    dict
        JSON-ready: ``group``, ``groups``, ``left_out``, ``cuts``, ``effects``, ``items``,
        ``items_refused`` (why items are not tested), ``reason`` (why there are no groups), ``summary``,
        ``conventions``.

    Raises
    ------
    MissingColumns, UnknownName, BadInput
        If a column or group is absent, or a participant has several values.

    See Also
    --------
    obelus.groups.effects.group_effects, obelus.groups.item_functioning.item_functioning

    Notes
    -----
    Groups are not assigned at random: a difference may come from anything that differs between them.

    References
    ----------
    Holland & Wainer (1993), *Differential Item Functioning*; Zwick, Thayer & Mazzeo (1997), Applied
    Measurement in Education 10.

    Examples
    --------
    >>> rows = pd.DataFrame([
    ...     (p, i, side, 5 - 2 * (side == "unacceptable") * (p < 8) + (p * i) % 2, "n" if p < 8 else "s")
    ...     for p in range(16) for i in range(6) for side in ("acceptable", "unacceptable")],
    ...     columns=["participant", "item", "expected", "value", "dialect"]).assign(task="likert")
    >>> report = groups_report(rows, group="dialect", transform="raw")
    >>> round(report["effects"][0]["estimate"], 2), report["summary"]["effects_differ"]
    (-2.0, 1)
    """
    require_columns(judgments, "participant", "value")
    effects: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    refused = reason = ""
    try:
        grouping = group_participants(judgments, group, background=background, reference=reference, cuts=cuts)
    except NotEnoughData as error:
        grouping = Grouping(group, pd.Series(dtype=object), "", [], [])
        reason = f"Groups are not compared: {error.message}"
    else:
        effects = group_effects(judgments, grouping, by=by, transform=transform)
        try:
            items = item_functioning(judgments, grouping)
        except BadInput as error:
            refused = error.message
    return {
        "experiment": experiment,
        "group": grouping.name,
        "groups": grouping.groups,
        "left_out": grouping.left_out,
        "cuts": list(grouping.cuts),
        "by": by,
        "transform": transform,
        "correction": correction,
        "effects": effects,
        "items": items,
        "items_refused": refused,
        "reason": reason,
        "summary": _summary(effects, items, corrected=f"p_{correction}"),
        "conventions": CONVENTIONS,
    }


def _summary(effects: list[dict[str, Any]], items: list[dict[str, Any]], *, corrected: str) -> dict[str, Any]:
    tested = [row for row in items if row["p"] is not None]
    flagged = [row for row in tested if row[corrected] < 0.05 and row["effect_class"] != "A"]
    return {
        "effects_tested": sum(row["p"] is not None for row in effects),
        "effects_differ": sum(row["p"] is not None and row[corrected] < 0.05 for row in effects),
        "items": len(items),
        "items_tested": len(tested),
        "items_flagged": len(flagged),
        "classes": {name: sum(row["effect_class"] == name for row in items) for name in "ABC"},
    }
