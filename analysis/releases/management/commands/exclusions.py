"""What an exclusion plan removes, of whom, and whether the conclusions hang on it."""

from typing import Any

from analysis.releases.page_reports import exclusions_of
from config.commands import ContractCommand
from experiments.names import find_experiment


class Command(ContractCommand):
    """``exclusions EXPERIMENT``."""

    help = "Flow, margins and overlap of a plan, who is removed by group, and the sensitivity panel."
    example = "manage.py exclusions blimp-validation --exclude rejected,catch_failed --json"

    def add_options(self, parser) -> None:
        """The study and the plan."""
        parser.add_argument("experiment", help="slug or title of the study")
        parser.add_argument(
            "--exclude", default="", metavar="PLAN", help="a stored plan, or steps such as rejected,flagged"
        )
        parser.add_argument("--transform", default="z", help="of ratings, in the sensitivity panel")

    def run(self, **options: Any) -> None:
        """Report on the study."""
        study = find_experiment(options["experiment"])
        report = exclusions_of(study, exclude=options["exclude"], transform=options["transform"])
        if options["json"]:
            self.print_json(report)
        else:
            self._tell(report)

    def _tell(self, report: dict[str, Any]) -> None:
        when = "before the first response" if report["plan"]["locked_before_first_response"] else "later"
        written = f", written {when}" if report["plan"]["created_at"] else ""
        self.stdout.write(f"plan {report['plan']['name']}{written}, {report['plan']['sha256'][:12]}")
        for row in report["flow"]:
            self.stdout.write(
                f"{row['step']:<24} out: {row['participants_removed']} participants, "
                f"{row['judgments_removed']} judgments; left: {row['participants_left']}, "
                f"{row['judgments_left']}"
            )
        for row in report["groups"]:
            self.stdout.write(
                f"{row['group']} {row['value']}: {row['removed']} of {row['participants']} removed"
            )
        for row in report["sensitivity"]:
            name = f"without {row['step']}" if row["step"] else row["recipe"]
            self.stdout.write(
                f"{name:<32}{row['participants']:>6}{row['judgments']:>9}"
                f"{_number(row['majority_agreement']):>8}{_number(row['individual_agreement']):>8}"
                f"{_number(row['alpha']):>8}{_number(row['mean_difference']):>8}"
            )


def _number(number: float | None) -> str:
    return "–" if number is None else f"{number:.3f}"
