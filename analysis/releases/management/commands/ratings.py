"""Item means of ratings, standardized within participants."""

from typing import Any

from analysis.aggregation.transforms import TRANSFORMS
from analysis.releases.reports import ratings_of
from config.commands import ContractCommand
from experiments.names import find_experiment


class Command(ContractCommand):
    """``ratings EXPERIMENT``."""

    help = "Standardized item means with n, SD and SE; participants' own means and SDs."
    example = "manage.py ratings ssa2013 --transform z --ddof 1 --json"

    def add_options(self, parser) -> None:
        """The study and the conventions."""
        parser.add_argument("experiment", help="slug or title of the study")
        parser.add_argument(
            "--exclude", default="", metavar="PLAN", help="a stored plan, or steps such as rejected,flagged"
        )
        parser.add_argument("--transform", default="z", help=f"one of {', '.join(TRANSFORMS)}")
        parser.add_argument("--ddof", type=int, choices=(0, 1), default=1, help="1: sample SD, 0: population")

    def run(self, **options: Any) -> None:
        """Report on the study."""
        names = ("exclude", "transform", "ddof")
        study = find_experiment(options["experiment"])
        report = ratings_of(study, **{name: options[name] for name in names})
        if options["json"]:
            self.print_json(report)
        else:
            self._tell(report)

    def _tell(self, report: dict[str, Any]) -> None:
        self.stdout.write(f"transform {report['transform']}, ddof {report['ddof']}, scope {report['scope']}")
        self.stdout.write(f"{'sentence':<60}{'n':>5}{'mean':>9}{'sd':>8}{'se':>8}{'raw':>9}  status")
        for row in report["items"]:
            widths = {"mean": 9, "sd": 8, "se": 8, "mean_raw": 9}
            numbers = "".join(f"{_number(row[name]):>{width}}" for name, width in widths.items())
            name = (row["sentence_id"] or row["item"])[:58]
            self.stdout.write(f"{name:<60}{row['n']:>5}{numbers}  {row['status']}")
        odd = [row for row in report["participants"] if row["status"] != "ok"]
        items, people = len(report["items"]), len(report["participants"])
        self.stdout.write(f"{items} items, {people} participants, {len(odd)} of them not standardized")


def _number(number: float | None) -> str:
    """Three decimals, a dash where it is undefined."""
    return "–" if number is None else f"{number:.3f}"
