"""Two-by-two designs: the difference of differences, as in studies of islands."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.columns import require_columns
from analysis.effects.contrasts import Contrast, paired_contrast
from analysis.effects.mixed import CROSSED, Estimate, MixedFit, Random, mixed_model
from analysis.errors import BadInput
from analysis.rows import Floats, group_codes


@dataclass(frozen=True)
class Factor:
    """A two-level factor: the level without the property under study, then the level with it."""

    column: str
    plain: str
    marked: str


@dataclass(frozen=True)
class Interaction:
    """Difference of differences of a 2×2 design, three ways."""

    cells: pd.DataFrame
    """``first``, ``second``, ``n``, ``mean`` of the four cells."""
    by_participants: Contrast
    by_items: Contrast
    mixed: MixedFit

    @property
    def estimate(self) -> Estimate:
        """The interaction in the mixed model."""
        return self.mixed["interaction"]

    @property
    def main_effects(self) -> dict[str, Estimate]:
        """Costs of the marked level of each factor, averaged over the other, in the mixed model."""
        return {name: self.mixed[name] for name in ("first", "second")}


def difference_of_differences(
    rows: pd.DataFrame,
    *,
    first: Factor,
    second: Factor,
    value: str = "value",
    random: tuple[Random, ...] = CROSSED,
) -> Interaction:
    """Estimate how far two factors together cost more than the sum of their costs.

    Parameters
    ----------
    rows : DataFrame, one row per judgment
        Needs ``participant``, ``item``, the two factors' columns and the value; rows of other levels are
        left out.
    first, second : Factor
        For an island: structure (non-island, island) and dependency (matrix, embedded).
    value : str
        Scores, for example z.
    random : tuple of Random
        Random terms of the mixed model.

    Returns
    -------
    Interaction
        ``by_participants`` and ``by_items`` hold one t test each (``too_few`` where no item appears in all
        four cells), ``mixed`` the interaction of the crossed mixed model with its interval.

    Raises
    ------
    MissingColumns
        If a column is absent.
    BadInput
        If one of the four cells is empty.

    Notes
    -----
    DD = [y(plain, marked) - y(marked, marked)] - [y(plain, plain) - y(marked, plain)], the levels of first
    and second in this order. Positive: superadditive. In the mixed model the levels are coded +½ and -½ so
    that the coefficient of the product is DD. Needs scores on an interval scale: a floor or a
    ceiling of the scale can make or hide an interaction.

    References
    ----------
    Maxwell & Delaney (2003), *Designing Experiments and Analyzing Data*; Sprouse, Wagers & Phillips (2012),
    Language 88.

    Examples
    --------
    >>> rows = pd.DataFrame([
    ...     (s, d, p, p - 2.0 * (s == "island" and d == "embedded") + (s == "island") * p % 3)
    ...     for p in range(6) for s in ("non", "island") for d in ("matrix", "embedded")],
    ...     columns=["structure", "distance", "participant", "value"]).assign(item="i")
    >>> structure, distance = Factor("structure", "non", "island"), Factor("distance", "matrix", "embedded")
    >>> found = difference_of_differences(rows, first=structure, second=distance)
    >>> found.by_participants.mean_difference
    2.0
    """
    require_columns(rows, "participant", "item", first.column, second.column, value)
    one, other = (_codes(rows, factor) for factor in (first, second))
    scores = rows[value].to_numpy(dtype=np.float64)
    used = (one != 0) & (other != 0) & ~np.isnan(scores)
    kept = rows.loc[used, ["participant", "item"]].assign(
        value=scores[used], first=one[used] / 2, second=-other[used] / 2
    )
    kept["interaction"] = kept["first"] * kept["second"]
    cells = _cells(kept, first, second)
    if len(cells) < 4:
        found = ", ".join(f"{row['first']} {row['second']}" for _, row in cells.iterrows()) or "none"
        message = "one of the four cells has no judgment."
        raise BadInput(message, column=second.column, remedy=f"Cells found: {found}.")
    return Interaction(
        cells,
        by_participants=_by(kept, "participant"),
        by_items=_by(kept, "item"),
        mixed=mixed_model(kept, fixed=("first", "second", "interaction"), random=random),
    )


def _codes(rows: pd.DataFrame, factor: Factor) -> Floats:
    """Give +1 for the plain level, -1 for the marked one, 0 for others."""
    names = rows[factor.column].astype(str).to_numpy()
    return np.where(names == factor.plain, 1.0, np.where(names == factor.marked, -1.0, 0.0))


def _cells(kept: pd.DataFrame, first: Factor, second: Factor) -> pd.DataFrame:
    means = kept.groupby(["first", "second"])["value"].agg(["size", "mean"]).reset_index()
    return pd.DataFrame(
        {
            "first": np.where(means["first"] > 0, first.plain, first.marked),
            "second": np.where(means["second"] > 0, second.marked, second.plain),
            "n": means["size"],
            "mean": means["mean"],
        }
    )


def _by(kept: pd.DataFrame, unit: str) -> Contrast:
    """Test the units' own differences: costs at the marked level against costs at the plain one."""
    codes, names = group_codes(kept[unit])
    cell = 2 * (kept["first"] < 0).to_numpy() + (kept["second"] > 0).to_numpy()
    place = codes * 4 + cell
    count = np.bincount(place, minlength=4 * len(names)).reshape(-1, 4)
    total = np.bincount(place, weights=kept["value"], minlength=4 * len(names)).reshape(-1, 4)
    whole = (count > 0).all(axis=1)
    means = total[whole] / count[whole]
    costs_plain, costs_marked = means[:, 0] - means[:, 2], means[:, 1] - means[:, 3]
    return paired_contrast(costs_marked, costs_plain)
