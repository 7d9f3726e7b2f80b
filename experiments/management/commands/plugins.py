"""``manage.py plugins``: what installed packages add to the platform."""

from typing import Any

from analysis.plugins.registry import API_VERSION
from config.commands import ContractCommand
from experiments.operation.plugins import installed_plugins


class Command(ContractCommand):
    """List the plugins, and why any of them is not used."""

    help = "List the components that installed packages add, and why any of them is not used."
    example = "manage.py plugins --json"
    requires_migrations_checks = False

    def run(self, **options: Any) -> None:
        """Print one line for each plugin."""
        plugins = installed_plugins()
        if options["json"]:
            self.print_json({"api_version": API_VERSION, "plugins": plugins})
            return
        if not plugins:
            self.stdout.write("No plugin is installed.")
        for plugin in plugins:
            state = f"not used: {plugin['problem']}" if plugin["problem"] else "in use"
            package = f"{plugin['package']} {plugin['version']}".strip()
            self.stdout.write(f"{plugin['kind']} {plugin['name']} ({package}, {plugin['target']}): {state}")
