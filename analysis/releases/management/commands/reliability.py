"""How far people agree with each other, and the ceilings this sets for models."""

from typing import Any

from analysis.aggregation.transforms import TRANSFORMS
from analysis.agreement.answers import CODINGS
from analysis.releases.page_reports import reliability_of
from config.commands import ContractCommand
from experiments.names import find_experiment


class Command(ContractCommand):
    """``reliability EXPERIMENT``."""

    help = (
        "Percent, Fleiss, Krippendorff, AC1, Cohen, intraclass correlation, split halves and noise ceilings."
    )
    example = "manage.py reliability blimp-validation --exclude rejected --json"

    def add_options(self, parser) -> None:
        """The study and the conventions."""
        parser.add_argument("experiment", help="slug or title of the study")
        parser.add_argument(
            "--exclude", default="", metavar="PLAN", help="a stored plan, or steps such as rejected,flagged"
        )
        parser.add_argument("--transform", default="z", help=f"of ratings: {', '.join(TRANSFORMS)}")
        parser.add_argument("--coding", default="label_blind", help=f"of choices: {', '.join(CODINGS)}")
        parser.add_argument("--seed", type=int, default=0, help="of halvings and draws")

    def run(self, **options: Any) -> None:
        """Report on the study."""
        names = ("exclude", "transform", "coding", "seed")
        study = find_experiment(options["experiment"])
        report = reliability_of(study, **{name: options[name] for name in names})
        if options["json"]:
            self.print_json(report)
        else:
            self._tell(report)

    def _tell(self, report: dict[str, Any]) -> None:
        self.stdout.write(
            f"{report['task']}: {report['judgments']} judgments, {report['participants']} participants, "
            f"{report['units']} {report['unit']}s, coded {report['coding']}"
        )
        for row in report["coefficients"]:
            self.stdout.write(
                f"{row['measure']:<24}{_number(row['value']):>8}  {row['of']:<18}{row['reason']}"
            )
        for row in report["icc"]["forms"]:
            reason = report["icc"]["reason"]
            self.stdout.write(f"{row['form']:<24}{_number(row['value']):>8}  {reason}")
        for half in report["split_half"]:
            ends = f"[{_number(half['ci_low'])}, {_number(half['ci_high'])}]"
            self.stdout.write(
                f"split half by {half['unit']:<10}{_number(half['spearman_brown']):>8}  {ends}, "
                f"ceiling {_number(half['ceiling_model'])}  {half['reason']}"
            )


def _number(number: float | None) -> str:
    """Three decimals, a dash where it is undefined."""
    return "–" if number is None else f"{number:.3f}"
