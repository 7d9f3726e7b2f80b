"""The test database: what tests leave in it, and its address for other processes."""

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import psycopg
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.models.signals import post_migrate

#: Tables that ``migrate`` fills. After each test that commits, Django would empty them, too, and fill them
#: again, which takes 20 times as long as emptying all others.
ROWS_OF_MIGRATIONS = frozenset({"auth_permission", "django_content_type"})


def keep_rows_of_migrations() -> None:
    """Once the tables are made: do not look for missing content types and permissions after each test."""
    assert post_migrate.disconnect(create_contenttypes)
    assert post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")


def database_url() -> str:
    """The address of the test database."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    login = settings["USER"] + (f":{settings['PASSWORD']}" if settings["PASSWORD"] else "")
    return (
        f"postgres://{login}@{settings['HOST'] or '127.0.0.1'}:{settings['PORT'] or 5432}/{settings['NAME']}"
    )


@contextmanager
def empty_database(server: str) -> Iterator[str]:
    """Make an empty database beside this one of PostgreSQL while the block runs; gives its address."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with closing(psycopg.connect(server, autocommit=True)) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlsplit(server)._replace(path=f"/{name}").geturl()
        finally:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
