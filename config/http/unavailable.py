"""Which errors of the database mean that the same request may succeed later: they are answered by 503."""

from django.db import DatabaseError, InterfaceError, OperationalError

#: PostgreSQL's codes that Django does not count as operational: 42501 is also a disk that became read-only
#: (``errcode_for_file_access``), 25006 a server that became a standby.
NOT_WRITABLE = {"42501", "25006"}


def is_unavailable(error: BaseException | None) -> bool:
    """Whether an error is one of the database's state, not of the request."""
    if isinstance(error, OperationalError | InterfaceError):
        return True
    return isinstance(error, DatabaseError) and getattr(error.__cause__, "sqlstate", "") in NOT_WRITABLE
