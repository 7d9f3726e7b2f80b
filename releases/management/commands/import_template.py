"""``manage.py import_template``: make a study from a template."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.errors import BadInput
from config.commands import ContractCommand
from experiments.studies.creation import find_user
from releases.study_templates.create import built_in_file, built_in_names, create_from_template, read_template
from releases.study_templates.document import MAX_BYTES


class Command(ContractCommand):
    """``import_template TEMPLATE --owner USER``."""

    help = "Make a study from a template: an .obelus.yaml file, or the name of a built-in one."
    example = "manage.py import_template likert-island --owner ada --dry-run"

    def add_options(self, parser: ArgumentParser) -> None:
        """The template and the owner of the study."""
        parser.add_argument("template", help=f"a file, or {', '.join(built_in_names())}")
        parser.add_argument("--owner", required=True, metavar="USER", help="owner of the study")
        parser.add_argument("--title", default="", help="in place of the template's title")
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be made, and store nothing"
        )

    def run(self, **options: Any) -> None:
        """Check the template; create the study unless this is a dry run."""
        owner = find_user(options["owner"])
        if owner is None:
            raise BadInput("--owner is empty.", remedy="Give the name of a user.")
        name, title = options["template"], options["title"].strip()
        if len(title) > 200:
            raise BadInput("the title has more than 200 characters.", remedy="Shorten it.")
        content = built_in_file(name) if name in built_in_names() else _content(Path(name))
        template = read_template(content, file=name, user=owner)
        study = None if options["dry_run"] else create_from_template(template, owner, title=title)
        summary = template.summary() | {"study": study.slug if study else None}
        if options["json"]:
            self.print_json(summary)
            return
        for line in summary["makes"]:
            self.stdout.write(line)
        for line in summary["left_out"]:
            self.stdout.write(f"Left out: {line}")
        self.stdout.write(f"Created: {study.slug}" if study else "Nothing was stored.")


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)  # one byte more is refused
    except OSError as error:
        remedy = f"Name a file, or one of {', '.join(built_in_names())}."
        raise BadInput(f"cannot be read: {error.strerror}.", file=str(path), remedy=remedy) from error
