"""Options and text of the command ``power``: a planned study, or other sizes of a pilot in a file."""

import argparse
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from ..choices import POWER_ANALYSES, POWER_MODELS, POWER_SIZES, POWER_TARGET, POWER_TESTS
from ..errors import BadInput
from ..power.money import format_money, minor_units
from .output import CommandOutput, add_zeros, magnitudes_line, select_options

if TYPE_CHECKING:
    from ..power.report import Price

RESAMPLING = ("participants", "by", "transform", "criterion", "alpha", "draws", "seed", "pilots", "analysis")


class PowerAnalysis(CommandOutput):
    """Power of a planned study, or of other sizes of a study already run, beside its cost."""

    help = "Power: 'prospective' from a stated effect, 'resample' from a pilot's judgments."

    def add_options(self, parser: ArgumentParser) -> None:
        """The two ways."""
        modes = parser.add_subparsers(dest="mode", required=True, metavar="prospective|resample")
        ahead = modes.add_parser("prospective", help="simulate a planned study")
        ahead.add_argument("--task", required=True, metavar="|".join(POWER_MODELS))
        ahead.add_argument(
            "--effect", type=float, required=True, metavar="D", help="difference in SDs of a person's ratings"
        )
        ahead.add_argument("--items", type=int, nargs="+", default=[8], metavar="N", help="lexicalizations")
        ahead.add_argument(
            "--lists", type=int, metavar="N", help="of the Latin square; default: as conditions"
        )
        ahead.add_argument(
            "--test",
            default="t",
            metavar="|".join(POWER_TESTS),
            help="with interaction, --effect is the difference of differences, with anova Cohen's f",
        )
        ahead.add_argument("--rule", default="blimp", help="of inclusion: blimp, climp, M/N or a share")
        ahead.add_argument("--conditions", type=int, default=3, metavar="K", help="of the anova")
        ahead.add_argument("--correlation", type=float, default=0.5, help="among conditions of the anova")
        ahead.add_argument("--epsilon", type=float, default=1.0, help="sphericity of the anova")
        for name, meaning in NOISE.items():
            ahead.add_argument(f"--{name.replace('_', '-')}", type=float, help=meaning)
        resample = modes.add_parser("resample", help="draw a pilot's participants again")
        pilot = resample.add_mutually_exclusive_group(required=True)
        pilot.add_argument("--judgments", metavar="FILE", help="participant, item, value, …")
        self.add_study_options(ahead, resample, pilot)
        resample.add_argument("--by", default="phenomenon", help="column of the contrasts")
        resample.add_argument("--transform", default="z", help="of ratings")
        add_zeros(resample)
        resample.add_argument(
            "--criterion", default="t", metavar="t|bayes", help="what counts as a detection"
        )
        resample.add_argument(
            "--pilots", type=int, default=0, help="resample the pilot so often for an interval"
        )
        for mode in (ahead, resample):
            mode.add_argument("--reward", metavar="AMOUNT", help="paid to each participant, such as 1.50")
            mode.add_argument("--currency", default="GBP", help="of the reward")
            mode.add_argument("--fee", type=float, default=0.0, help="of the platform, in percent")
            mode.add_argument("--participants", type=int, nargs="+", default=list(POWER_SIZES), metavar="N")
            mode.add_argument(
                "--analysis",
                default="mixed",
                metavar="|".join(POWER_ANALYSES),
                help="mixed: over participants and items, as on pages; participants: over these items only",
            )
            mode.add_argument("--draws", type=int, help="simulated studies per design")
            mode.add_argument("--seed", type=int, default=0)
            mode.add_argument("--alpha", type=float, default=0.05)
            mode.add_argument("--json", action="store_true", default=argparse.SUPPRESS)

    def add_study_options(self, ahead: ArgumentParser, resample: ArgumentParser, pilot: Any) -> None:
        """Add options that name a stored study; ``pilot`` is the group of sources of a pilot."""

    def run(self, **options: Any) -> None:
        """Compute and print."""
        if not 0 < options["alpha"] < 1:
            raise BadInput(f"alpha is {options['alpha']}.", remedy="It lies between 0 and 1.")
        price, currency = self.price(options)
        compute = prospective if options["mode"] == "prospective" else self.resample_power
        document = compute(options, price)
        if options["json"]:
            self.print_json({**document, "currency": currency})
        else:
            self.stdout.write(power_text(document, currency))

    def price(self, options: dict[str, Any]) -> tuple["Price", str]:
        """The reward and fee of each participant, and the currency."""
        from ..power.report import Price

        if options["reward"] is None:
            return Price(), options["currency"]
        reward = minor_units(options["reward"], options["currency"])
        return Price(reward, options["fee"] / 100), options["currency"]

    def resample_power(self, options: dict[str, Any], price: "Price") -> dict[str, Any]:
        """Power of other numbers of participants, from a file of the pilot's judgments."""
        from ..comparison.files import read_judgments
        from ..power.report import pilot_report
        from .documents import usable_magnitudes

        judgments, magnitudes = usable_magnitudes(
            read_judgments(options["judgments"]), transform=options["transform"], zeros=options["zeros"]
        )
        return pilot_report(judgments, price=price, **select_options(options, *RESAMPLING)) | magnitudes


NOISE = {
    "residual": "SD of one rating around its sentence and person",
    "item_effect": "SD of the effect between items (default: published, .3; interaction .45)",
    "participant_effect": "SD of the effect between participants (default: published, .35; interaction .4, "
    "choices .2)",
    "choice_gain": "how much larger the effect is in forced choice",
}


VARYING = {"item_effect": "items", "participant_effect": "participants"}


def prospective(options: dict[str, Any], price: "Price") -> dict[str, Any]:
    """Power of a planned study."""
    from ..power.report import prospective_report
    from ..power.simulation import Noise

    noise = Noise(**{name: options[name] for name in NOISE if options[name] is not None})
    if not noise.residual > 0 or min(noise.item_effect or 0, noise.participant_effect or 0) < 0:
        raise BadInput("a standard deviation is not positive.", remedy="Give positive numbers.")
    chosen = select_options(options, "participants", "items", "lists", "alpha", "draws", "seed", "analysis")
    chosen |= select_options(options, "test", "rule", "conditions", "correlation", "epsilon")
    return prospective_report(options["task"], options["effect"], noise=noise, price=price, **chosen)


def power_text(document: dict[str, Any], currency: str) -> str:
    """Describe the result for a terminal."""
    if document["mode"] == "resample":
        from ..report.page_findings import unknown_power_sentence

        lines = [f"{document['task']}, {document['pilot_participants']} participants, {document['test']}"]
        lines += [document["few_note"]] if document["few_note"] else []
        lines += [text] if (text := unknown_power_sentence(document)) else []
        if document["variation"]:
            sds = [f"{document['variation'][name]:.2f} between {unit}" for name, unit in VARYING.items()]
            lines.append(f"SD of the effect in the pilot: {', '.join(sds)}")
        lines.append(f"{'n':>6}  share of phenomena with power of at least {POWER_TARGET:g}")
        lines += [
            f"{row['n']:>6}  {row['share_powered']:.3f}{_sure(row)}{_cost(row, currency)}"
            for row in document["sizes"]
        ]
        lines += [magnitudes_line(document["magnitudes"])] if document["magnitudes"] else []
        return "\n".join(lines)
    has_f = document["test"].startswith("anova")
    size = f"f {document['effect']:g}" if has_f else f"effect {document['effect']:g} SD"
    lines = [f"{document['task']}, {size}, {document['analysis']}"]
    if document["noise"]:
        sds = [f"{document['noise'][name]:g} between {unit}" for name, unit in VARYING.items()]
        lines.append(f"SD of the effect: {', '.join(sds)}")
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
