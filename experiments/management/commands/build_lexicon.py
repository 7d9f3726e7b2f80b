"""``manage.py build_lexicon``: freeze the forms of the generator's lexicon."""

from argparse import ArgumentParser
from typing import Any

from config.commands import ContractCommand
from experiments.generation.lexicon.building import build
from experiments.generation.lexicon.reading import FROZEN, lexicon_folder, read_lexicon


class Command(ContractCommand):
    """Freeze the forms of a language's lexicon; for developers, as it needs lemminflect."""

    help = "Write every form of the lexicon's words to frozen.csv: overrides first, then lemminflect."
    example = "manage.py build_lexicon en"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("language", nargs="?", default="en", help="folder of the lexicon (default: en)")

    def run(self, **options: Any) -> None:
        """Build and read the result once."""
        language = options["language"]
        count = build(lexicon_folder(language))
        read_lexicon.cache_clear()
        lexicon = read_lexicon(language)
        if options["json"]:
            self.print_json(
                {"language": language, "forms": count, "rows": len(lexicon), "version": lexicon.version}
            )
            return
        self.stdout.write(f"{FROZEN}: {count:,} forms of {len(lexicon):,} rows; version {lexicon.version}")
