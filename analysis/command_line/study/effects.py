"""Options and text of the report ``effects``: analyses of contrasts, and interactions."""

from argparse import ArgumentParser
from typing import Any

from ...choices import BY, CORRECTION_NAMES, SLOPES, TRANSFORMS
from ...report.wording import SENTENCES, decimal, p_value
from ..output import CommandOutput, add_correction, add_sesoi, add_zeros

NO_CONTRAST = f"{SENTENCES['no_contrast']} Use --conditions HIGHER,LOWER or --factorial."
ALPHABETICAL = f"{SENTENCES['alphabetical']} Use --factorial to choose them."


class EffectsText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = "Direction, t or sign tests, Bayes factor and mixed model of every contrast; 2x2 interactions."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Contrasts, transformation, random structure and design."""
        parser.add_argument("--by", default="phenomenon", help=f"what a contrast is: {', '.join(BY)}")
        parser.add_argument("--transform", default="z", help=f"of ratings: {', '.join(TRANSFORMS)}")
        add_zeros(parser)
        parser.add_argument(
            "--slopes",
            default="auto",
            help=f"random slopes: {', '.join(SLOPES)}; auto: the most that each contrast supports",
        )
        parser.add_argument("--population", type=int, help="published contrasts of which these are a sample")
        parser.add_argument(
            "--factorial",
            default="",
            metavar="PP,MP,PM,MM",
            help="the four conditions of a 2x2 design, plain and marked; without it read from their names",
        )
        parser.add_argument(
            "--conditions",
            default="",
            metavar="HIGHER,LOWER",
            help="contrast of two conditions, or levels of a factor, in place of acceptable and unacceptable",
        )
        add_correction(parser)
        add_sesoi(parser)
        parser.add_argument(
            "--ordinal", action="store_true", help="the cumulative link model of every contrast instead"
        )

        parser.add_argument(
            "--bayesian",
            action="store_true",
            help="--ordinal with the posterior of each contrast (needs pymc; takes a minute or more each)",
        )

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        from ...report.findings import equivalence_sentence
        from ...report.page_findings import left_out_sentence

        if "rows" in report:
            self._print_ordinal(report)
            return
        by, corrected = report["by"], f"p_{report['correction']}"
        if not report["analyses"] and not report["interactions"]:
            self.stdout.write(left_out_sentence(report) or NO_CONTRAST)
        elif text := left_out_sentence(report):
            self.stdout.write(text)
        width = _name_width(report["analyses"], by)
        for row in report["analyses"]:
            name = row[by] or "–"
            self.stdout.write(
                f"{name:<{width}}{row['analysis']:<14}{decimal(row['estimate']):>9}{p_value(row['p']):>8}"
                f"{p_value(row[corrected]):>8}  {row['outcome']}{_why(row)}"
            )
            if row["structure"]:
                self.stdout.write(f"    {row['structure']}{_given_up(row)}")
        if report["analyses"]:
            self.stdout.write(f"p, then p by {CORRECTION_NAMES[report['correction']]}")
        for row in report["rates"]:
            self.stdout.write(
                f"{row['analysis']}: {row['converges']} of {row['estimable']} converge, "
                f"{row['reversed']} reversed, {row['null']} null, {row['not_estimable']} not estimable"
            )
        for row in report["equivalence"]:
            self.stdout.write(
                f"{row[by] or '–':<{width}}{'equivalence':<14}{decimal(row['estimate']):>9}"
                f"{p_value(row['p']):>8}{p_value(row[corrected]):>8}  {row['verdict']}, 90 % "
                f"{decimal(row['ci_low'])} to {decimal(row['ci_high'])}{_why(row)}"
            )
        if report["equivalence"]:
            self.stdout.write(equivalence_sentence(report))
        for row in report["factorial"]:
            self._print_factorial(row, report)
        for row in report["interactions"]:
            self._print_interaction(row, report)
        for row in report["not_recognized"]:
            self.stdout.write(f"{row[by] or '–'}: no difference of differences: {row['reason']}")
        if any(row["oriented_by"] == "alphabetical" for row in report["interactions"]):
            self.stdout.write(ALPHABETICAL)

    def _print_factorial(self, row: dict[str, Any], report: dict[str, Any]) -> None:
        self.stdout.write(
            f"{row[report['by']] or '–'}: {' × '.join(factor['name'] for factor in row['factors'])}"
        )
        if row["reason"]:
            self.stdout.write(f"    {row['reason']}")
        for effect in row["effects"]:
            test = (
                ""
                if effect["df2"] is None
                else f"F({effect['df1']}, {effect['df2']:.1f}) {decimal(effect['F'], 2)}"
            )
            ends = (
                f" {decimal(effect['estimate'])} [{decimal(effect['ci_low'])}, {decimal(effect['ci_high'])}],"
                if effect["estimate"] is not None
                else ""
            )
            self.stdout.write(
                f"    {effect['label']}:{ends} {test}, p {p_value(effect['p'])}, "
                f"{CORRECTION_NAMES[report['correction']]} {p_value(effect['p_' + report['correction']])}"
            )
        if row["structure"]:
            self.stdout.write(f"    {row['structure']}{_given_up(row)}")
        if row["note"]:
            self.stdout.write(f"    {row['note']}")

    def _print_interaction(self, row: dict[str, Any], report: dict[str, Any]) -> None:
        by, mixed = report["by"], row["mixed"]
        self.stdout.write(
            f"{row[by] or '–'}: {row['first']['marked']} x {row['second']['marked']}, difference of "
            f"differences {decimal(mixed['estimate'])} [{decimal(mixed['ci_low'])}, "
            f"{decimal(mixed['ci_high'])}], p {p_value(mixed['p'])}"
        )
        if mixed.get("structure"):
            self.stdout.write(f"    {mixed['structure']}{_given_up(mixed)}")
        tests = [("participants", row["participants"]), ("items", row["items"])]
        tests += [
            (f"{model['model']}, items", model["items"]) for model in report["models"] if model[by] == row[by]
        ]
        for name, test in tests:
            self.stdout.write(
                f"    by {name}: {decimal(test['estimate'])} [{decimal(test['ci_low'])}, "
                f"{decimal(test['ci_high'])}], p {p_value(test['p'])}, above zero {test['above_zero']} of "
                f"{test['n']}"
            )
        for entry in row["differences"]["items"]:
            self.stdout.write(f"    item {entry['item']}: {decimal(entry['difference'])}")
        for entry in row["differences"]["participants"]:
            self.stdout.write(f"    participant {entry['participant']}: {decimal(entry['difference'])}")

    def _print_ordinal(self, report: dict[str, Any]) -> None:
        from ...report.page_findings import posterior_sentence

        if not report["rows"]:
            self.stdout.write(NO_CONTRAST)
        width = _name_width(report["rows"], report["by"])
        for row in report["rows"]:
            name = row[report["by"]] or "–"
            self.stdout.write(
                f"{name:<{width}}{decimal(row['beta']):>9}{decimal(row['se']):>9}{p_value(row['p']):>8}"
                f"{decimal(row['beta_fixed']):>9}  {_ordinal_note(row)}"
            )
            scale = row["scale_use"]
            if scale["sd"] is not None:
                self.stdout.write(
                    f"    with participants' use of the scale: {decimal(scale['beta'])}, SD of log "
                    f"discrimination {decimal(scale['sd'])}, p {p_value(scale['p_ratio'])}"
                )
            if row["bayesian"]:
                self.stdout.write(f"    {posterior_sentence(row['bayesian'])}")


def _name_width(rows: list[dict[str, Any]], by: str) -> int:
    """Characters of the first column: the longest name and a gap of two, at least 40."""
    return max([40, *(len(row[by] or "") + 2 for row in rows)])


def _ordinal_note(row: dict[str, Any]) -> str:
    return "; ".join(filter(None, [row["structure"], row["reason"]]))


def _given_up(row: dict[str, Any]) -> str:
    return " (the data support no more: path in --json)" if row["path"] else ""


def _why(row: dict[str, Any]) -> str:
    return f" ({row['status']})" if row["status"] != "ok" else ""
