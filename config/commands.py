"""Base of all management commands: help with an example, exit status 2 on bad input, one JSON document."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from analysis.command_line.output import CommandOutput
from analysis.errors import BadInput


class ContractCommand(CommandOutput, BaseCommand):
    """Base of the commands in the contract (DESIGN §4).

    A subclass sets ``help`` and ``example``, adds arguments in :meth:`add_options` and works in
    :meth:`run`. A :class:`~analysis.errors.BadInput` becomes one line on stderr and exit status 2.
    """

    example: ClassVar[str] = ""
    # What protects stored data; the other checks (URLs, admin) import every page and take 0.8 s.
    requires_system_checks = (Tags.models, Tags.security)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Show the example under the options."""
        kwargs.setdefault("epilog", f"Example:\n  {self.example}")
        kwargs.setdefault("formatter_class", RawDescriptionHelpFormatter)
        return super().create_parser(prog_name, subcommand, **kwargs)

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command; a value may begin with a hyphen, as in ``--split-condition -=a,b``."""
        parser = self.create_parser(argv[0], argv[1])
        super().run_from_argv([*argv[:2], *attach_values(parser, argv[2:])])

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments of the subclass and ``--json``."""
        self.add_options(parser)
        if not any("--json" in action.option_strings for action in parser._actions):
            parser.add_argument(
                "--json", action="store_true", help="print one JSON document on stdout and nothing else"
            )

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the arguments of the subclass."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command and explain bad input in one line."""
        try:
            self.run(**options)
        except BadInput as error:
            raise CommandError(" ".join(str(error).split()), returncode=2) from error
        except DatabaseError as error:
            if reason := _connection_error():
                raise CommandError(f"The database of DATABASE_URL cannot be reached: {reason}") from error
            if not _lacks_migrations():
                raise
            message = "The database is not set up for this version. Run manage.py migrate first."
            raise CommandError(message, returncode=2) from error

    def run(self, **options: Any) -> None:
        """Do the work of the subclass."""
        raise NotImplementedError

    @contextmanager
    def working(self, options: dict[str, Any], label: str) -> Iterator[None]:
        """Show on a terminal that something of unknown length runs."""
        if not self.wants_progress(options):
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status(label):
            yield


def attach_values(parser: ArgumentParser, arguments: Sequence[str]) -> list[str]:
    """Return the arguments with values that begin with a hyphen joined to their option.

    argparse takes such a value for an option, unless it is a number.

    Examples
    --------
    >>> parser = ArgumentParser()
    >>> _ = parser.add_argument("--split"), parser.add_argument("--labels", nargs="+", action="extend")
    >>> attach_values(parser, ["--split", "-=a,b", "--labels", "-1=no", "1=yes"])
    ['--split=-=a,b', '--labels=-1=no', '--labels', '1=yes']
    """
    taking = {name: action for action in parser._actions for name in action.option_strings}
    attached: list[str] = []
    option, is_attached = "", False
    for argument in arguments:
        is_short = argument.startswith("-") and len(argument) > 1 and argument[1] != "-"
        if option and is_short and argument[:2] not in taking:
            if attached[-1] == option:
                attached.pop()
            attached.append(f"{option}={argument}")
            is_attached = True
        elif argument.startswith("-") and len(argument) > 1:
            action = taking.get(argument)
            takes_values = action is not None and (action.nargs == "+" or action.nargs is None)
            option, is_attached = argument if takes_values else "", False
            attached.append(argument)
            continue
        else:
            attached += [option, argument] if is_attached and option else [argument]
            is_attached = False
        if option and taking[option].nargs is None:
            option = ""
    return attached


def _connection_error() -> str:
    """Why the database cannot be opened, in one line; empty where it can."""
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        return " ".join(str(error).split())
    return ""


def _lacks_migrations() -> bool:
    """Whether migrations are missing, as before the first start."""
    try:
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return False
