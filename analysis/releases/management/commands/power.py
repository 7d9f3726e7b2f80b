"""``manage.py power``: how many participants a study needs, before it opens or from a pilot."""

import argparse
from typing import Any

from analysis.comparison.files import read_judgments
from analysis.effects.planned import Noise, expected_share
from analysis.effects.power import TARGET, conventions, enough_participants
from analysis.effects.prospective import ANALYSES, TASKS, prospective_power
from analysis.effects.resampling import choice_power, pilot_matrix, powered_by_size, resampled_power
from analysis.errors import BadInput
from config.commands import ContractCommand

SIZES = (10, 15, 20, 25, 30, 40, 50, 75, 100)


class Command(ContractCommand):
    """Power of a planned study, or of other sizes of a study already run; no database is touched."""

    help = "Power: 'prospective' from a stated effect, 'resample' from a pilot's judgments."
    example = (
        "manage.py power prospective --task likert --effect 0.5 --participants 20 30 40 --items 8 --lists 2\n"
        "  manage.py power resample --judgments pilot.csv --participants 10 20 30 --json"
    )

    def add_options(self, parser) -> None:
        """The two ways."""
        modes = parser.add_subparsers(dest="mode", required=True, metavar="prospective|resample")
        ahead = modes.add_parser("prospective", help="simulate a planned study")
        ahead.add_argument("--task", required=True, metavar="|".join(TASKS))
        ahead.add_argument(
            "--effect", type=float, required=True, metavar="D", help="difference in SDs of a person's ratings"
        )
        ahead.add_argument("--items", type=int, nargs="+", default=[8], metavar="N", help="lexicalizations")
        ahead.add_argument("--lists", type=int, default=2, metavar="N", help="lists of the Latin square")
        ahead.add_argument("--analysis", default="participants", metavar="|".join(ANALYSES))
        for name, meaning in _NOISE.items():
            ahead.add_argument(
                f"--{name.replace('_', '-')}", type=float, default=getattr(Noise(), name), help=meaning
            )
        again = modes.add_parser("resample", help="draw a pilot's participants again")
        again.add_argument("--judgments", required=True, metavar="FILE", help="participant, item, value, …")
        again.add_argument("--by", default="phenomenon", help="column of the contrasts")
        again.add_argument("--transform", default="z", help="of ratings")
        again.add_argument("--criterion", default="t", metavar="t|bayes", help="what counts as a detection")
        again.add_argument(
            "--pilots", type=int, default=0, help="resample the pilot so often for an interval"
        )
        for mode in (ahead, again):
            mode.add_argument("--participants", type=int, nargs="+", default=list(SIZES), metavar="N")
            mode.add_argument("--draws", type=int, default=1_000, help="simulated studies per design")
            mode.add_argument("--seed", type=int, default=0)
            mode.add_argument("--alpha", type=float, default=0.05)
            mode.add_argument("--json", action="store_true", default=argparse.SUPPRESS)

    def run(self, **options: Any) -> None:
        """Compute and print."""
        if not 0 < options["alpha"] < 1:
            raise BadInput(f"alpha is {options['alpha']}.", remedy="It lies between 0 and 1.")
        document = _prospective(options) if options["mode"] == "prospective" else _resampled(options)
        if options["json"]:
            self.print_json(document)
        else:
            self.stdout.write(_text(document))


_NOISE = {
    "residual": "SD of one rating around its sentence and person",
    "item_effect": "SD of the effect between items",
    "participant_effect": "SD of the effect between participants",
    "choice_gain": "how much larger the effect is in forced choice",
}


def _prospective(options: dict[str, Any]) -> dict[str, Any]:
    noise = Noise(**{name: options[name] for name in _NOISE})
    if not noise.residual > 0 or min(noise.item_effect, noise.participant_effect) < 0:
        raise BadInput("a standard deviation is not positive.", remedy="Give positive numbers.")
    names = ("participants", "items", "lists", "alpha", "draws", "seed", "analysis")
    chosen = {name: options[name] for name in names}
    document = prospective_power(options["task"], options["effect"], noise=noise, **chosen)
    enough = None
    if options["task"] == "forced_choice":
        share = expected_share(options["effect"], noise=noise)
        enough = enough_participants("forced_choice", share, alpha=options["alpha"])
        document["expected_share"] = share
    return {"mode": "prospective", **document, "enough_participants_one_choice_each": enough}


def _resampled(options: dict[str, Any]) -> dict[str, Any]:
    matrix, task = pilot_matrix(
        read_judgments(options["judgments"]), by=options["by"], transform=options["transform"]
    )
    sizes, alpha = options["participants"], options["alpha"]
    whole = (matrix.isna() | matrix.isin([0.0, 1.0])).to_numpy().all()
    single = task == "forced_choice" and bool(whole)
    if single:
        table = choice_power(matrix, sizes, alpha=alpha)
    else:
        shifted = matrix - 0.5 if task == "forced_choice" else matrix
        names = ("draws", "seed", "alpha", "criterion", "pilots")
        table = resampled_power(shifted, sizes, **{name: options[name] for name in names})
    return {
        "mode": "resample",
        "task": task,
        "test": "exact sign test" if single else "paired t of participants",
        "pilot_participants": len(matrix),
        "few_in_pilot": len(matrix) < 30,
        "sizes": powered_by_size(table).to_dict("records"),
        "phenomena": table.astype(object).where(table.notna(), None).to_dict("records"),
        "conventions": conventions(alpha=alpha, seed=options["seed"], draws=options["draws"]),
    }


def _text(document: dict[str, Any]) -> str:
    if document["mode"] == "resample":
        lines = [f"{document['task']}, {document['pilot_participants']} participants, {document['test']}"]
        if document["few_in_pilot"]:
            lines.append("fewer than 30 participants: power from this pilot is too high")
        lines.append(f"{'n':>6}  share of phenomena with power of at least {TARGET:g}")
        lines += [f"{row['n']:>6}  {row['share_powered']:.3f}" for row in document["sizes"]]
        return "\n".join(lines)
    lines = [f"{document['task']}, effect {document['effect']:g} SD, {document['analysis']}"]
    lines.append(f"{'people':>7}{'items':>7}{'trials':>8}{'power':>8}{'Type S':>8}{'Type M':>8}{'width':>8}")
    for row in document["designs"]:
        cells = "".join(f"{_number(row[name]):>8}" for name in ("power", "type_s", "type_m", "ci_width"))
        lines.append(f"{row['participants']:>7}{row['items']:>7}{row['trials_per_participant']:>8}{cells}")
    return "\n".join(lines)


def _number(number: float | None) -> str:
    return "–" if number is None else f"{number:.3f}"
