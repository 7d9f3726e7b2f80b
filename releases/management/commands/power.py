"""``manage.py power``: how many participants a study needs, before it opens or from a pilot."""

import argparse
from argparse import ArgumentParser
from typing import Any

from analysis.command_line.documents import usable_magnitudes
from analysis.command_line.output import add_zeros, magnitudes_line
from analysis.comparison.files import read_judgments
from analysis.errors import BadInput
from analysis.power.exact import TARGET
from analysis.power.report import MODELS, SIZES, Price, pilot_report, prospective_report
from analysis.power.simulation import ANALYSES, Noise
from config.commands import ContractCommand
from experiments.models import Experiment
from experiments.studies.creation import find_experiment
from experiments.studies.money import format_money, minor_units
from releases.management.report_command import EXCLUDE_HELP, named_exclusion
from releases.reports.compute import pilot_of
from releases.reports.power_forms import price_of


class Command(ContractCommand):
    """Power of a planned study, or of other sizes of a study already run, beside its cost."""

    help = "Power: 'prospective' from a stated effect, 'resample' from a pilot's judgments."
    example = (
        "manage.py power prospective --task likert --effect 0.5 --participants 20 30 40 --items 8 --lists 2\n"
        "  manage.py power resample --judgments pilot.csv --participants 10 20 30 --json"
    )

    def add_options(self, parser: ArgumentParser) -> None:
        """The two ways."""
        modes = parser.add_subparsers(dest="mode", required=True, metavar="prospective|resample")
        ahead = modes.add_parser("prospective", help="simulate a planned study")
        ahead.add_argument("--task", required=True, metavar="|".join(MODELS))
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
        resample = modes.add_parser("resample", help="draw a pilot's participants again")
        pilot = resample.add_mutually_exclusive_group(required=True)
        pilot.add_argument("--judgments", metavar="FILE", help="participant, item, value, …")
        pilot.add_argument("--study", default="", help="slug or title of a stored study as the pilot")
        resample.add_argument("--exclude", default="", metavar="PLAN", help=f"with --study: {EXCLUDE_HELP}")
        resample.add_argument("--by", default="phenomenon", help="column of the contrasts")
        resample.add_argument("--transform", default="z", help="of ratings")
        add_zeros(resample)
        resample.add_argument(
            "--criterion", default="t", metavar="t|bayes", help="what counts as a detection"
        )
        resample.add_argument(
            "--pilots", type=int, default=0, help="resample the pilot so often for an interval"
        )
        ahead.add_argument("--study", default="", help="take reward and fee from its campaign")
        for mode in (ahead, resample):
            mode.add_argument("--reward", metavar="AMOUNT", help="paid to each participant, such as 1.50")
            mode.add_argument("--currency", default="GBP", help="of the reward")
            mode.add_argument("--fee", type=float, default=0.0, help="of the platform, in percent")
            mode.add_argument("--participants", type=int, nargs="+", default=list(SIZES), metavar="N")
            mode.add_argument("--draws", type=int, default=1_000, help="simulated studies per design")
            mode.add_argument("--seed", type=int, default=0)
            mode.add_argument("--alpha", type=float, default=0.05)
            mode.add_argument("--json", action="store_true", default=argparse.SUPPRESS)

    def run(self, **options: Any) -> None:
        """Compute and print."""
        if not 0 < options["alpha"] < 1:
            raise BadInput(f"alpha is {options['alpha']}.", remedy="It lies between 0 and 1.")
        study = find_experiment(options["study"]) if options["study"] else None
        price, currency = _price(options, study)
        if study is not None and options["mode"] == "resample":
            options["exclude"] = named_exclusion(self, study, options["exclude"])
        if options["mode"] == "prospective":
            document = _prospective(options, price)
        else:
            document = _resampled(options, price, study)
        if options["json"]:
            self.print_json({**document, "currency": currency})
        else:
            self.stdout.write(_text(document, currency))


_NOISE = {
    "residual": "SD of one rating around its sentence and person",
    "item_effect": "SD of the effect between items",
    "participant_effect": "SD of the effect between participants",
    "choice_gain": "how much larger the effect is in forced choice",
}


def _price(options: dict[str, Any], study: Experiment | None) -> tuple[Price, str]:
    """The reward and fee asked for, else those of the study's campaign."""
    if options["reward"] is None:
        return price_of(study) if study else (Price(), options["currency"])
    reward = minor_units(options["reward"], options["currency"])
    return Price(reward, options["fee"] / 100), options["currency"]


def _prospective(options: dict[str, Any], price: Price) -> dict[str, Any]:
    noise = Noise(**{name: options[name] for name in _NOISE})
    if not noise.residual > 0 or min(noise.item_effect, noise.participant_effect) < 0:
        raise BadInput("a standard deviation is not positive.", remedy="Give positive numbers.")
    names = ("participants", "items", "lists", "alpha", "draws", "seed", "analysis")
    chosen = {name: options[name] for name in names}
    return prospective_report(options["task"], options["effect"], noise=noise, price=price, **chosen)


def _resampled(options: dict[str, Any], price: Price, study: Experiment | None) -> dict[str, Any]:
    names = ("participants", "by", "transform", "criterion", "alpha", "draws", "seed", "pilots")
    chosen = {name: options[name] for name in names}
    zeros = options["zeros"]
    if study is not None:
        chosen |= {"exclude": options["exclude"], "zeros": zeros}
        return pilot_of(study, reward_minor=price.reward_minor, fee=price.fee, **chosen)
    judgments, magnitudes = usable_magnitudes(
        read_judgments(options["judgments"]), transform=options["transform"], zeros=zeros
    )
    return pilot_report(judgments, price=price, **chosen) | magnitudes


def _text(document: dict[str, Any], currency: str) -> str:
    if document["mode"] == "resample":
        lines = [f"{document['task']}, {document['pilot_participants']} participants, {document['test']}"]
        if document["few_in_pilot"]:
            lines.append("fewer than 30 participants: power from this pilot is too high")
        lines.append(f"{'n':>6}  share of phenomena with power of at least {TARGET:g}")
        lines += [
            f"{row['n']:>6}  {row['share_powered']:.3f}{_sure(row)}{_cost(row, currency)}"
            for row in document["sizes"]
        ]
        lines += [magnitudes_line(document["magnitudes"])] if document["magnitudes"] else []
        return "\n".join(lines)
    lines = [f"{document['task']}, effect {document['effect']:g} SD, {document['analysis']}"]
    lines.append(f"{'people':>7}{'items':>7}{'trials':>8}{'power':>8}{'Type S':>8}{'Type M':>8}{'width':>8}")
    for row in document["designs"]:
        cells = "".join(f"{_number(row[name]):>8}" for name in ("power", "type_s", "type_m", "ci_width"))
        plan = f"{row['participants']:>7}{row['items']:>7}{row['trials_per_participant']:>8}"
        lines.append(f"{plan}{cells}{_cost(row, currency)}")
    return "\n".join(lines)


def _sure(row: dict[str, Any]) -> str:
    """The same share at the lower ends of the intervals over pilots, where they are known."""
    return f" ({row['share_sure']:.3f} at the pilot's lower end)" if "share_sure" in row else ""


def _number(number: float | None) -> str:
    return "–" if number is None else f"{number:.3f}"


def _cost(row: dict[str, Any], currency: str) -> str:
    return f"  {format_money(row['cost_minor'], currency)}" if row["cost_minor"] else ""
