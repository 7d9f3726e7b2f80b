"""docker/compose.yml as Compose reads it: merged, with the settings of a filled-in docker/.env."""

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
SITE_HOST = "judgments.example.org"
FILLED_IN = {
    "SITE_HOST": SITE_HOST,
    "SECRET_KEY": "a secret key of a test, which signs nothing else",
    "PLATFORM_KEY": "a platform key of a test, which encrypts nothing else",
    "DATABASE_PASSWORD": "password",
    "BROKER_PASSWORD": "password",
}
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def example_settings() -> dict[str, str]:
    """Return the settings that docker/.env.example sets, those to be filled in with an empty value."""
    lines = (DOCKER / ".env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def interpolate(value: Any, settings: dict[str, str]) -> Any:
    """Replace ${NAME}, ${NAME:-default} and ${NAME:?message}."""
    if isinstance(value, dict):
        return {key: interpolate(entry, settings) for key, entry in value.items()}
    if isinstance(value, list):
        return [interpolate(entry, settings) for entry in value]
    if not isinstance(value, str):
        return value

    def replace(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if settings.get(name):
            return settings[name]
        assert kind != "?", f"{name} must be filled in"
        return rest or ""

    return VARIABLE.sub(replace, value)


def compose(settings: dict[str, str] | None = None) -> dict[str, Any]:
    """Read docker/compose.yml."""
    document = yaml.safe_load((DOCKER / "compose.yml").read_text())
    merged: dict[str, Any] = interpolate(document, {**example_settings(), **(settings or FILLED_IN)})
    return merged


def seconds(duration: str) -> float:
    """Read a duration such as 30s or 2m."""
    return float(duration[:-1]) * {"s": 1, "m": 60}[duration[-1]]
