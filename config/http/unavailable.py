"""Which errors of the database and of shared storage may be gone later: the answer is 503."""

from django.db import DatabaseError, InterfaceError, OperationalError

#: PostgreSQL's codes that Django does not count as operational: 42501 is also a disk that became read-only
#: (``errcode_for_file_access``), 25006 a server that became a standby.
NOT_WRITABLE = {"42501", "25006"}


def is_unavailable(error: BaseException | None) -> bool:
    """Whether an error is one of the database's state, not of the request."""
    if isinstance(error, OperationalError | InterfaceError):
        return True
    return isinstance(error, DatabaseError) and getattr(error.__cause__, "sqlstate", "") in NOT_WRITABLE


def is_of_a_store(error: BaseException | None) -> bool:
    """Whether S3, or Redis as a cache, did not respond; imported here because most processes use neither."""
    from botocore.exceptions import BotoCoreError, ClientError
    from redis.exceptions import RedisError

    return isinstance(error, BotoCoreError | ClientError | RedisError)
