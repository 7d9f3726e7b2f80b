"""The five analyses of every contrast, how many hold, and the interactions of factorial designs."""

from typing import Any

from analysis.aggregation.transforms import TRANSFORMS
from analysis.effects.report import BY, SLOPES
from analysis.releases.page_reports import effects_of, ordinal_of
from config.commands import ContractCommand
from experiments.names import find_experiment

NO_CONTRAST = (
    "There is no contrast: no judged sentence or pair has an expected status, and no "
    "four conditions are two levels of two factors (such as island.embedded; --by PARADIGM or --factorial)."
)
ALPHABETICAL = (
    "Marked levels are the later ones in the alphabet, since no condition is expected to be unacceptable; "
    "--factorial says which they are."
)


class Command(ContractCommand):
    """``effects EXPERIMENT``."""

    help = "Direction, t or sign tests, Bayes factor and mixed model of every contrast; 2x2 interactions."
    example = "manage.py effects ssa2013 --by phenomenon --transform z --json"

    def add_options(self, parser) -> None:
        """The study and the conventions."""
        parser.add_argument("experiment", help="slug or title of the study")
        parser.add_argument(
            "--exclude", default="", metavar="PLAN", help="a stored plan, or steps such as rejected,flagged"
        )
        parser.add_argument("--by", default="phenomenon", help=f"what a contrast is: {', '.join(BY)}")
        parser.add_argument("--transform", default="z", help=f"of ratings: {', '.join(TRANSFORMS)}")
        parser.add_argument(
            "--slopes", default="", help=f"random slopes: {', '.join(word for word in SLOPES if word)}"
        )
        parser.add_argument("--population", type=int, help="published contrasts of which these are a sample")
        parser.add_argument(
            "--factorial",
            default="",
            metavar="PP,MP,PM,MM",
            help="the four conditions of a 2x2 design, plain and marked; without it read from their names",
        )
        parser.add_argument(
            "--ordinal", action="store_true", help="the cumulative link model of every contrast instead"
        )

    def run(self, **options: Any) -> None:
        """Report on the study."""
        study = find_experiment(options["experiment"])
        if options["ordinal"]:
            report = ordinal_of(study, exclude=options["exclude"], by=options["by"])
        else:
            names = ("exclude", "by", "transform", "slopes", "population", "factorial")
            report = effects_of(study, **{name: options[name] for name in names})
        if options["json"]:
            self.print_json(report)
        elif options["ordinal"]:
            self._tell_ordinal(report)
        else:
            self._tell(report)

    def _tell(self, report: dict[str, Any]) -> None:
        by = report["by"]
        if not report["analyses"] and not report["interactions"]:
            self.stdout.write(NO_CONTRAST)
        for row in report["analyses"]:
            name = row[by] or "–"
            self.stdout.write(
                f"{name:<40}{row['analysis']:<14}{_number(row['estimate']):>9}{_p(row['p']):>8}"
                f"{_p(row['p_holm']):>8}  {row['outcome']}{_why(row)}"
            )
        for row in report["rates"]:
            self.stdout.write(
                f"{row['analysis']}: {row['converges']} of {row['estimable']} converge, "
                f"{row['reversed']} reversed, {row['null']} null, {row['not_estimable']} not estimable"
            )
        for row in report["interactions"]:
            mixed = row["mixed"]
            self.stdout.write(
                f"{row[by] or '–'}: {row['first']['marked']} x {row['second']['marked']}, difference of "
                f"differences {_number(mixed['estimate'])} [{_number(mixed['ci_low'])}, "
                f"{_number(mixed['ci_high'])}], p {_p(mixed['p'])}"
            )
        if any(row["oriented_by"] == "alphabetical" for row in report["interactions"]):
            self.stdout.write(ALPHABETICAL)

    def _tell_ordinal(self, report: dict[str, Any]) -> None:
        for row in report["rows"]:
            name = row[report["by"]] or "–"
            self.stdout.write(
                f"{name:<40}{_number(row['beta']):>9}{_number(row['se']):>9}{_p(row['p']):>8}"
                f"{_number(row['beta_fixed']):>9}  {row['reason']}"
            )


def _number(number: float | None) -> str:
    return "–" if number is None else f"{number:.3f}"


def _p(number: float | None) -> str:
    return "–" if number is None else "<.001" if number < 0.001 else f"{number:.3f}"


def _why(row: dict[str, Any]) -> str:
    return f" ({row['status']})" if row["status"] != "ok" else ""
