"""The test database, for other processes."""

from django.db import connection


def database_url() -> str:
    """The address of the test database."""
    given = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{given['NAME']}"
    login = given["USER"] + (f":{given['PASSWORD']}" if given["PASSWORD"] else "")
    return f"postgres://{login}@{given['HOST'] or '127.0.0.1'}:{given['PORT'] or 5432}/{given['NAME']}"
