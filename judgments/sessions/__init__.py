"""The life of one session, one step per module: arrive, advance, record, finish, expire, leave."""
