"""``manage.py demo``: create materials, studies, simulated participants, releases and comparisons."""

import time
from dataclasses import asdict
from typing import Any

from config.commands import ContractCommand
from releases.demo.login import login_line


class Command(ContractCommand):
    """Create the demo once."""

    help = "Create the demo: four open studies, simulated participants, gold releases and model comparisons."
    example = "manage.py demo"

    def run(self, **options: Any) -> None:
        """Create what is missing; print how to log in if the demo is new."""
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import Progress  # noqa: PLC0415

        from releases.demo.make import make_demo  # noqa: PLC0415 (numerical libraries)

        began = time.perf_counter()
        quiet = options["json"] or options["verbosity"] == 0
        if not quiet:
            self.stdout.write("Creating what is missing of the demo (once, about half a minute) ...")
        with Progress(console=Console(stderr=True), disable=not self.wants_progress(options)) as bar:
            task = bar.add_task("", total=None)
            demo = make_demo(
                lambda done, total, message: bar.update(
                    task, completed=done, total=total, description=message
                )
            )
        if options["json"]:
            self.print_json(asdict(demo))
        elif not quiet and demo.is_new:
            self.stdout.write(
                f"{len(demo.studies)} studies with {demo.judgments:,} judgments, {demo.releases} "
                f"releases and {demo.comparisons} comparisons in {time.perf_counter() - began:.0f} s."
            )
            self.stdout.write(login_line())
