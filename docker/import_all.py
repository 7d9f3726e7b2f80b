"""Import every module of the platform, so that the image holds the bytecode of all that it may import."""

import importlib
import os
import pkgutil

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
PACKAGES = ("analysis", "config", "experiments", "judgments", "releases")
# What a database, a broker, a storage and the processes themselves import when they are chosen or started.
BY_SETTINGS = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.worker.consumer",
    "django.core.cache.backends.redis",
    "django.db.backends.postgresql.base",
    "granian.server",
    "granian.wsgi",
    "kombu.transport.pyamqp",
    "kombu.transport.redis",
    "psycopg_binary",
    "psycopg_pool",
    "storages.backends.s3",
)
ON_FIRST_USE = ("pingouin",)  # imported within functions
EXTRAS = {"torch", "transformers", "tokenizers", "kenlm", "sentry_sdk"}  # not part of the image


def main() -> None:
    """Import all modules; one that needs an extra is left out."""
    django.setup()
    for name in (*BY_SETTINGS, *ON_FIRST_USE):
        importlib.import_module(name)
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if module.name.endswith("__main__"):
                continue
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                if (error.name or "").partition(".")[0] not in EXTRAS:
                    raise


if __name__ == "__main__":
    main()
