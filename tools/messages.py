"""Extract the participants' texts and compile their translations: ``python -m tools.messages``.

Needs gettext (`apt-get install gettext`). Catalogues are in judgments/locale/<language>/LC_MESSAGES.
"""

import os
from pathlib import Path

import django
from django.core.management import call_command
from django.core.management.commands.makemessages import Command as MakeMessages
from django.core.management.commands.makemessages import TranslatableFile

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = PROJECT / "judgments"
OTHERS = (PROJECT / "experiments" / "tasks", PROJECT / "experiments" / "studies")
LOCALES = ["ar", "de", "es", "fr", "it", "ja", "ko", "nl", "pt", "ru", "tr", "zh_Hans"]


class ExtractMessages(MakeMessages):
    """Django's ``makemessages`` that also extracts texts of pure modules, which do not import gettext."""

    xgettext_options = [
        *MakeMessages.xgettext_options,
        "--keyword=BadResponse",
        "--keyword=Message:2",
        "--keyword=Parameter:2",
    ]

    def find_files(self, root: str) -> list[TranslatableFile]:
        """Return the files of the package, of the tasks and of the studies' texts."""
        files = [super(ExtractMessages, self).find_files(str(folder)) for folder in (root, *OTHERS)]
        return sorted(file for of_folder in files for file in of_folder)


def main() -> None:
    """Update every catalogue and compile it."""
    os.chdir(PACKAGE)
    django.setup()
    call_command(
        ExtractMessages(), locale=LOCALES, no_wrap=True, add_location="file", no_obsolete=True, verbosity=1
    )
    _make_references_relative()
    call_command("compilemessages", locale=LOCALES, verbosity=1)


def _make_references_relative() -> None:
    """Remove the folder of the checkout from the references to files outside the package."""
    for catalogue in PACKAGE.glob("locale/*/LC_MESSAGES/django.po"):
        text = catalogue.read_text(encoding="utf-8")
        catalogue.write_text(text.replace(f"{PROJECT}/", "../"), encoding="utf-8")


if __name__ == "__main__":
    main()
