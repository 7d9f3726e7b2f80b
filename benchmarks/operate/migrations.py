"""Migrate five million judgments from the schema of version 0.2: seconds and locks of each migration.

Run ``BENCH_POSTGRES=postgres://USER@HOST/DATABASE python -m benchmarks.operate.migrations``. It makes a
database of its own (five million need 6 GB and some minutes), fills it at the first migrations, applies the
later ones in their order and drops the database; ``--keep`` leaves it.

Every statement of a migration holds its locks until the migration ends. A table counts as large from 10,000
rows; a lock is printed if it stops those who write (answers wait) or those who read as well.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import psycopg

DATABASE = "obelus_bench_migrations"
FIRST = {"experiments": "0001_initial", "judgments": "0001_initial", "releases": "0001_initial"}
TRIALS = 100  # of a session
LISTS = 50
LARGE = 10_000  # rows
BOUND_S = 5.0  # browsers repeat an answer for longer than this; see docs/benchmarks.md
BLOCKING = {  # from the weakest to the strongest
    "ShareLock": "writers wait",
    "ShareRowExclusiveLock": "writers wait",
    "ExclusiveLock": "writers wait",
    "AccessExclusiveLock": "readers and writers wait",
}
EMPTY = {
    "boolean": "false",
    "jsonb": "'{}'",
    "timestamp with time zone": "now()",
    "date": "current_date",
    "uuid": "gen_random_uuid()",
    "character varying": "''",
    "text": "''",
}


@dataclass
class Step:
    """One migration, measured."""

    name: str
    seconds: float = 0.0
    first_locked: dict[tuple[str, str], float] = field(default_factory=dict)
    held: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def worst(self) -> float:
        """The longest time for which a lock on a large table stopped someone."""
        return max(self.held.values(), default=0.0)


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--judgments", type=int, default=5_000_000)
    parser.add_argument("--keep", action="store_true", help="leave the database")
    return parser.parse_args()


def maintain(address: str, *statements: str) -> None:
    """Run statements outside of a transaction."""
    with closing(psycopg.connect(address, autocommit=True)) as line:
        for statement in statements:
            line.execute(statement)  # type: ignore[arg-type]


def fill(cursor: Any, table: str, n: int, **columns: str) -> None:
    """Insert so many rows from SQL expressions of ``n``; columns without one are empty."""
    cursor.execute(
        "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = %s",
        [table],
    )
    expressions = {"id": "n", **columns}
    for column, kind, nullable in cursor.fetchall():
        if column not in expressions and nullable == "NO":
            expressions[column] = EMPTY.get(kind, "0")
    cursor.execute(
        f"INSERT INTO {table} ({', '.join(expressions)}) "
        f"SELECT {', '.join(expressions.values())} FROM generate_series(1, {n}::bigint) AS n"
    )


def fill_first_schema(cursor: Any, n_judgments: int) -> None:
    """One study: a list of 100 sentences for every hundred judgments' session."""
    sessions = max(1, n_judgments // TRIALS)
    cursor.execute("SET session_replication_role = replica")  # references are right by construction
    fill(cursor, "auth_user", 1, username="'ada'")
    fill(cursor, "experiments_materialset", 1, name="'pairs'", slug="'pairs'", owner_id="1")
    fill(cursor, "experiments_item", TRIALS, key="'item ' || n", material_set_id="1")
    fill(
        cursor,
        "experiments_sentence",
        TRIALS,
        key="'sentence ' || n",
        text="'A sentence.'",
        item_id="n",
        material_set_id="1",
    )
    fill(
        cursor,
        "experiments_experiment",
        1,
        title="'Study'",
        slug="'study'",
        status="'open'",
        materials_id="1",
        lease_minutes="30",
    )
    fill(cursor, "experiments_experimentversion", 1, experiment_id="1", number="1")
    fill(
        cursor,
        "experiments_presentationlist",
        LISTS,
        label="'list ' || n",
        round="1",
        n_trials=str(TRIALS),
        experiment_id="1",
        version_id="1",
    )
    fill(
        cursor,
        "experiments_plannedtrial",
        LISTS * TRIALS,
        list_id=f"1 + (n - 1) / {TRIALS}",
        position=f"1 + (n - 1) % {TRIALS}",
        kind="'target'",
        sentence_id=f"1 + (n - 1) % {TRIALS}",
    )
    fill(cursor, "judgments_participant", sessions, pseudonym="'person ' || n", experiment_id="1")
    fill(
        cursor,
        "judgments_platformidentity",
        sessions,
        recruiter="'prolific'",
        external_id="md5(n::text)",
        experiment_id="1",
        participant_id="n",
    )
    fill(
        cursor,
        "judgments_session",
        sessions,
        token="'token ' || n",
        status="'complete'",
        experiment_id="1",
        version_id="1",
        list_id=f"1 + n % {LISTS}",
        participant_id="n",
        started_at="now()",
        completed_at="now()",
    )
    fill(cursor, "judgments_consent", sessions, given="true", session_id="n", participant_id="n")
    fill(
        cursor,
        "judgments_trial",
        sessions * TRIALS,
        session_id=f"1 + (n - 1) / {TRIALS}",
        position=f"1 + (n - 1) % {TRIALS}",
        kind="'target'",
        public_id="substr(md5(n::text), 1, 16)",
        sentence_id=f"1 + (n - 1) % {TRIALS}",
        item_id=f"1 + (n - 1) % {TRIALS}",
        shown=f"""jsonb_build_object('options', jsonb_build_array(
            jsonb_build_object('id', 'a', 'sentence_id', 1 + (n - 1) % {TRIALS}, 'text', 'A sentence.')))""",
        shown_at="now()",
    )
    fill(
        cursor,
        "judgments_judgment",
        sessions * TRIALS,
        trial_id="n",
        status="'answered'",
        response="(1 + n % 7)::text",
        value="1 + n % 7",
        scale_low="1",
        scale_high="7",
        rt_ms="500 + n % 3000",
        timing="""'{"clock": "performance", "coarse_ms": 0.1}'""",
        received_at="now()",
    )
    cursor.execute("SET session_replication_role = DEFAULT")


def set_sequences(cursor: Any) -> None:
    """Let every table count on from its last row."""
    cursor.execute(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'id' AND is_identity = 'YES'"
    )
    for (table,) in cursor.fetchall():
        last = f"greatest(1, (SELECT max(id) FROM {table}))"
        cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {last})")


def large_tables(cursor: Any) -> dict[int, str]:
    """Return the tables of so many rows, with their indexes' tables, by PostgreSQL's number."""
    cursor.execute(
        "SELECT oid::bigint, relname FROM pg_class WHERE relkind = 'r' AND reltuples >= %s", [LARGE]
    )
    return dict(cursor.fetchall())


def watch_locks(step: Step, tables: dict[int, str]) -> Callable[..., Any]:
    """Return a wrapper of statements that notes when a lock on a large table is first held."""
    inside = False

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        nonlocal inside
        if inside:
            return execute(sql, params, many, context)
        asked_at = time.perf_counter()  # a statement holds its lock while it runs
        result = execute(sql, params, many, context)
        inside = True
        try:
            with context["connection"].cursor() as cursor:
                cursor.execute(
                    "SELECT relation::bigint, mode FROM pg_locks WHERE pid = pg_backend_pid() AND granted "
                    "AND relation IS NOT NULL"
                )
                rows = cursor.fetchall()
        finally:
            inside = False
        for relation, mode in rows:
            if relation in tables and mode in BLOCKING:
                step.first_locked.setdefault((tables[relation], mode), asked_at)
        return result

    return note


def migrate(names: Iterable[tuple[str, str]]) -> list[Step]:
    """Apply migrations one by one."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    steps = []
    with connection.cursor() as cursor:
        tables = large_tables(cursor)
    for app, name in names:
        step = Step(f"{app}.{name}")
        start = time.perf_counter()
        with connection.execute_wrapper(watch_locks(step, tables)):
            MigrationExecutor(connection).migrate([(app, name)])
        end = time.perf_counter()
        step.seconds = end - start
        step.held = {lock: end - since for lock, since in step.first_locked.items()}
        steps.append(step)
        say(step)
    return steps


def say(step: Step) -> None:
    """Print one migration with the strongest lock on each large table."""
    strength = list(BLOCKING)
    strongest: dict[str, str] = {}
    for table, mode in sorted(step.held, key=lambda lock: strength.index(lock[1])):
        strongest[table] = mode
    locks = ", ".join(
        f"{table} {mode} {step.held[table, mode]:.2f} s ({BLOCKING[mode]})"
        for table, mode in strongest.items()
    )
    print(f"{step.name:<48} {step.seconds:7.2f} s  {locks or '-'}", flush=True)


def measure(n_judgments: int) -> list[Step]:
    """Fill the first schema and apply what follows."""
    import django

    django.setup()
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    executor.migrate([(app, FIRST.get(app, last)) for app, last in executor.loader.graph.leaf_nodes()])
    start = time.perf_counter()
    with connection.cursor() as cursor:
        fill_first_schema(cursor, n_judgments)
        set_sequences(cursor)
        cursor.execute("ANALYZE")
        cursor.execute("SELECT pg_size_pretty(pg_database_size(current_database()))")
        seconds = time.perf_counter() - start
        print(f"{n_judgments:,} judgments: {cursor.fetchone()[0]}, filled in {seconds:.0f} s", flush=True)
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return migrate((migration.app_label, migration.name) for migration, _ in plan)


def main() -> int:
    """Fill, migrate, drop; 1 where a lock on a large table lasts too long."""
    arguments = options()
    server = os.environ.get("BENCH_POSTGRES", "")
    if not server:
        print("Set BENCH_POSTGRES=postgres://USER@HOST:PORT/DATABASE; a database of its own is made there.")
        return 2
    address = urlsplit(server)._replace(path=f"/{DATABASE}").geturl()
    maintain(server, f"DROP DATABASE IF EXISTS {DATABASE}", f"CREATE DATABASE {DATABASE}")
    os.environ |= {
        "DATABASE_URL": address,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "a key for the rows of this benchmark alone",
    }
    try:
        steps = measure(arguments.judgments)
    finally:
        from django.db import connection

        connection.close()
        if not arguments.keep:
            maintain(server, f"DROP DATABASE {DATABASE}")
    if not steps:
        print("There is no later migration yet.")
        return 0
    worst = max(steps, key=lambda step: step.worst)
    total = sum(step.seconds for step in steps)
    print(
        json.dumps(
            {
                "migrations": len(steps),
                "total_s": round(total, 1),
                "longest_lock_s": round(worst.worst, 2),
                "of": worst.name,
                "must_be_s": BOUND_S,
            }
        )
    )
    return int(worst.worst > BOUND_S)


if __name__ == "__main__":
    sys.exit(main())
