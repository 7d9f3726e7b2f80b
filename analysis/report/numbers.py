"""Every number of a report, from a release alone."""

from collections.abc import Callable
from typing import Any

from analysis.aggregation.conditions import condition_report
from analysis.agreement.reliability_report import reliability_report
from analysis.agreement.report import agreement_report
from analysis.effects.power_report import pilot_report
from analysis.effects.report import effects_report
from analysis.errors import BadInput
from analysis.gold.writers import json_bytes
from analysis.report.recount import exclusions_again, kept_rows
from analysis.report.released import Released
from analysis.rows import RATING_TASKS, column_or_blank, is_kind, numbers

FORMAT = "obelus-report/1"
SIZES = (10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300)


def report_numbers(
    released: Released, *, progress: Callable[[int, int, str], None] | None = None
) -> dict[str, Any]:
    """Compute everything a report says in numbers.

    Parameters
    ----------
    released : Released
        From :func:`analysis.report.released.read_released`.
    progress : callable, optional
        Told how far it is: done, total, what comes next.

    Returns
    -------
    dict
        JSON-ready: ``format``, ``counts``, ``exclusions``, ``agreement``, ``reliability``, ``effects``,
        ``conditions``, ``power``. A part that cannot be computed holds its reason under ``refused``.

    Notes
    -----
    The report and ``analyse.py`` of its replication package both call this, on the same files. Contrasts
    are phenomena, or paradigms where the materials name no phenomena.
    """
    kept, options = kept_rows(released), released.options
    by, task = contrasts_of(released), str(released.manifest["task"])
    seed = int(options["seed"])
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "exclusions": lambda: exclusions_again(released),
        "agreement": lambda: agreement_report(
            kept,
            rule=options["rule"] or None,
            ties=options["ties"],
            experiment=str(released.manifest["experiment"]),
            seed=seed,
            n_min=int(options["n_min"]),
            before=released.judgments,
            undecided=str(released.study.get("undecided", "")),
        ),
        "reliability": lambda: reliability_report(kept, seed=seed),
        "effects": lambda: effects_report(kept, by=by),
        "conditions": lambda: condition_report(kept) if task in RATING_TASKS else {},
        "power": lambda: pilot_report(kept, by=by, participants=SIZES, seed=seed),
    }
    document: dict[str, Any] = {"format": FORMAT, "by": by, "task": task, "counts": counts_of(released)}
    for done, (name, make) in enumerate(parts.items()):
        if progress is not None:
            progress(done, len(parts), name)
        try:
            document[name] = make()
        except BadInput as error:
            document[name] = {"refused": error.message}
    return document


def numbers_bytes(document: dict[str, Any]) -> bytes:
    """Write the numbers as JSON: sorted keys, undefined numbers null.

    Parameters
    ----------
    document : dict
        From :func:`report_numbers`.

    Returns
    -------
    bytes
    """
    return json_bytes(document)


def contrasts_of(released: Released) -> str:
    """Tell what a contrast is: a phenomenon, or a paradigm where no phenomenon is named.

    Parameters
    ----------
    released : Released

    Returns
    -------
    str
        ``phenomenon`` or ``paradigm``.
    """
    names = set(column_or_blank(released.judgments, "phenomenon").astype(str).unique())
    return "phenomenon" if names - {"", "nan"} else "paradigm"


def counts_of(released: Released) -> dict[str, int]:
    """Count what was judged: answered targets and all kinds of trials.

    Parameters
    ----------
    released : Released

    Returns
    -------
    dict of str to int
    """
    rows = released.judgments
    answered = ~(numbers(rows) != numbers(rows))
    kinds = {
        f"{kind}_trials": int((is_kind(rows, (kind,)) & answered).sum())
        for kind in ("target", "filler", "catch", "practice", "anchor")
    }
    targets = rows[is_kind(rows, ("target",))]
    per_session = targets.groupby("session", observed=True).size()
    return {
        "participants": int(rows["participant"].nunique()),
        "sessions": int(rows["session"].nunique()),
        **kinds,
        "items_judged": int(targets[["paradigm", "item"]].astype(str).drop_duplicates().shape[0]),
        "paradigms_judged": int(column_or_blank(targets, "paradigm").astype(str).nunique()),
        "phenomena_judged": len(set(column_or_blank(targets, "phenomenon").astype(str)) - {"", "nan"}),
        "targets_per_session_low": int(per_session.min()) if len(per_session) else 0,
        "targets_per_session_high": int(per_session.max()) if len(per_session) else 0,
    }
