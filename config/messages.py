"""`make messages`: gather the participant's texts, compile their translations.

Needs gettext (`apt-get install gettext`). Catalogues lie in judgments/locale/<language>/LC_MESSAGES.
Beside the usual marks it gathers what pure modules say without Django: the words of a `BadResponse`
or a `Message`, and the default texts of a task's `Parameter`.
"""

import os
from pathlib import Path

import django
from django.core.management import call_command
from django.core.management.commands.makemessages import Command as MakeMessages

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
PACKAGE = Path(__file__).resolve().parent.parent / "judgments"
LOCALES = ["ar", "de", "es", "ja", "nl", "pt", "tr", "zh_Hans"]


class Gather(MakeMessages):
    """Django's own, with three more marks."""

    xgettext_options = [
        *MakeMessages.xgettext_options,
        "--keyword=BadResponse",
        "--keyword=Message:2",
        "--keyword=Parameter:2",
    ]


def main() -> None:
    """Bring every catalogue up to date and compile it."""
    os.chdir(PACKAGE)
    django.setup()
    call_command(Gather(), locale=LOCALES, no_wrap=True, no_location=True, no_obsolete=True, verbosity=1)
    call_command("compilemessages", locale=LOCALES, verbosity=1)


if __name__ == "__main__":
    main()
