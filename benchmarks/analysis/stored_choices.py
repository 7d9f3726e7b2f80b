"""A study of forced choices in a PostgreSQL database of its own, filled by the server itself.

The rows have the shape that a study of the platform leaves: pairs shown as stored texts in either order,
answers with response, value, chosen sentence, time and what the browser noted. Indexes are made afterwards.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "bench_choices"
EACH = 343

PEOPLE = """
INSERT INTO judgments_participant (pseudonym, background, is_native, is_simulated, created_at, experiment_id)
SELECT 'P' || lpad(i::text, 6, '0'), '{{}}', true, true, now(), {study} FROM generate_series(1, {people}) i;
INSERT INTO judgments_session (token, status, screen, seed, is_test, started_at, completed_at,
  completion_code, external_id, submission_status, user_agent, attributes, experiment_id, list_id,
  participant_id, version_id, device)
SELECT md5(p.id::text), 'complete', 'debrief', p.id, false, now(), now(), '', '', 'approved', '', '{{}}',
  {study}, (ARRAY{lists})[1 + p.id % {n_lists}], p.id, {version}, ''
FROM judgments_participant p ORDER BY p.id;
"""
TRIALS = """
INSERT INTO judgments_trial (position, kind, block, public_id, expected_first, shown, correct, shown_at,
  attributes, item_id, pair_id, session_id)
SELECT drawn.position, 'target', 1, substr(drawn.mark, 1, 12), drawn.first,
  jsonb_build_object('options', CASE WHEN drawn.first THEN jsonb_build_array(good, bad)
    ELSE jsonb_build_array(bad, good) END), '{{}}', now(), '{{}}', drawn.item, drawn.id, drawn.session
FROM (SELECT *,
    jsonb_build_object('id', substr(mark, 13, 10), 'sentence_id', key || '-good',
      'text', 'The keys to the cabinet are here.') AS good,
    jsonb_build_object('id', substr(mark, 23, 10), 'sentence_id', key || '-bad',
      'text', 'The keys to the cabinet is here.') AS bad
  FROM (SELECT s.id AS session, position, random() < 0.5 AS first, md5(s.id || '-' || position) AS mark,
      {first_pair} + floor(random() * {pairs})::int AS pair
    FROM (SELECT id FROM judgments_session ORDER BY id) s, generate_series(1, {each}) position
    LIMIT {n}) placed
  JOIN (SELECT m.id, m.key, g.item_id AS item
    FROM experiments_minimalpair m JOIN experiments_sentence g ON g.id = m.good_id) pair
  ON pair.id = placed.pair) drawn ORDER BY drawn.session, drawn.position;
"""
JUDGMENTS = """
INSERT INTO judgments_judgment (status, response, value, scale_low, scale_high, rt_ms, input_type, timing,
  answered_at, received_at, chosen_id, trial_id)
SELECT CASE WHEN lost THEN 'missing' ELSE 'answered' END,
  CASE WHEN lost THEN '' ELSE shown -> 'options' -> (right_one <> first)::int ->> 'id' END,
  CASE WHEN lost THEN NULL WHEN right_one THEN 1 ELSE 0 END, 0, 1,
  CASE WHEN lost THEN NULL ELSE 400 + (r * 4000)::int END,
  'keyboard', '{{"focus_lost_ms": 0, "clock_step_ms": 0.1}}', now(), now(),
  CASE WHEN lost THEN NULL WHEN right_one THEN good_id ELSE bad_id END, id
FROM (SELECT t.id, t.expected_first AS first, t.shown, m.good_id, m.bad_id, random() AS r,
    random() < 0.6 + 0.39 * (m.id % 17) / 16 AS right_one, random() < 0.002 AS lost
  FROM judgments_trial t JOIN experiments_minimalpair m ON m.id = t.pair_id ORDER BY t.id) answer;
"""
SETTINGS = "SET session_replication_role = replica; SET synchronous_commit = off; SET work_mem = '256MB';\
 SET maintenance_work_mem = '512MB'; SET max_parallel_workers_per_gather = 0; SELECT setseed(0.5);"
MATERIALS = """
import django
django.setup()
from experiments.models import MinimalPair, PresentationList
from tests import cast
from benchmarks.analysis.stored_choices import bulk_materials
materials = bulk_materials({paradigms}, 5)
study = cast.study("choices", materials=materials, n_lists=4)
lists = list(study.lists.values_list("pk", flat=True))
first = MinimalPair.objects.order_by("pk").values_list("pk", flat=True)[0]
print(study.pk, study.lists.first().version_id, first, *lists)
"""


def bulk_materials(paradigms: int, each: int):
    """Make pairs of twelve phenomena, ``each`` of every paradigm."""
    from experiments.models import Item, MinimalPair, Paradigm, Phenomenon, Sentence
    from tests import cast

    materials = cast.material_set("choices", n_items=0)
    materials.phenomena.all().delete()
    phenomena = [Phenomenon.objects.create(material_set=materials, name=f"phenomenon {n}") for n in range(12)]
    groups = Paradigm.objects.bulk_create(
        Paradigm(material_set=materials, phenomenon=phenomena[n % 12], name=f"paradigm {n}")
        for n in range(paradigms)
    )
    items = Item.objects.bulk_create(
        Item(material_set=materials, paradigm=group, key=f"{group.name} {n}".replace(" ", "-"))
        for group in groups
        for n in range(each)
    )
    good, bad = (
        Sentence.objects.bulk_create(
            Sentence(
                material_set=materials,
                item=item,
                key=f"{item.key}-{condition}",
                condition=condition,
                text=text,
                expected=expected,
            )
            for item in items
        )
        for condition, text, expected in (
            ("good", "The keys to the cabinet are here.", "acceptable"),
            ("bad", "The keys to the cabinet is here.", "unacceptable"),
        )
    )
    MinimalPair.objects.bulk_create(
        MinimalPair(
            material_set=materials, paradigm=item.paradigm, key=item.key, good=good_sentence, bad=other
        )
        for item, good_sentence, other in zip(items, good, bad, strict=True)
    )
    return materials


def surroundings(address: str) -> dict[str, str]:
    """Environment of a process of the project on that database."""
    return {
        "DATABASE_URL": address,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONPATH": str(ROOT),
    }


def make_database(server: str, judgments: int, *, paradigms: int = 1000, keep: bool = False) -> str:
    """Make the database with so many judgments, anew unless it is kept and there; gives its address."""
    if keep and psql(server, f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'"):
        return f"{server.rpartition('/')[0]}/{DATABASE}"
    psql(server, f"DROP DATABASE IF EXISTS {DATABASE}")
    psql(server, f"CREATE DATABASE {DATABASE}")
    address = f"{server.rpartition('/')[0]}/{DATABASE}"
    environment = os.environ | surroundings(address)
    _run([sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"], environment)
    ids = _run([sys.executable, "-c", MATERIALS.format(paradigms=paradigms)], environment).split()
    study, version, first_pair, *lists = (int(word) for word in ids)
    psql(address, "TRUNCATE judgments_participant, judgments_session CASCADE")
    facts = {
        "study": study,
        "version": version,
        "first_pair": first_pair,
        "pairs": paradigms * 5,
        "lists": lists,
        "n_lists": len(lists),
        "people": -(-judgments // EACH),
        "each": EACH,
        "n": judgments,
    }
    psql(address, SETTINGS + PEOPLE.format(**facts))
    for table, rows in (("judgments_trial", TRIALS), ("judgments_judgment", JUDGMENTS)):
        _filled(address, table, rows.format(**facts))
    psql(address, "VACUUM ANALYZE")
    return address


def dropped(server: str) -> None:
    """Remove the database."""
    psql(server, f"DROP DATABASE IF EXISTS {DATABASE}")


def _filled(address: str, table: str, rows: str) -> None:
    """Insert without indexes, then make them as they were."""
    listed = psql(
        address,
        f"SELECT indexname || '|' || indexdef FROM pg_indexes WHERE tablename = '{table}' "
        "AND indexname NOT IN (SELECT conname FROM pg_constraint)",
    )
    indexes = dict(line.split("|", 1) for line in listed.splitlines())
    psql(address, "".join(f"DROP INDEX {name};" for name in indexes))
    psql(address, SETTINGS + rows)
    psql(address, SETTINGS + ";".join(indexes.values()))


def wait_for(server: str) -> None:
    """Wait until a server that was started answers."""
    for _ in range(300):
        if not subprocess.run(
            ["psql", server, "-c", "SELECT 1"], capture_output=True, check=False
        ).returncode:
            return
        time.sleep(0.2)
    sys.exit("the database did not answer")


def psql(address: str, sql: str) -> str:
    return _run(["psql", address, "-v", "ON_ERROR_STOP=1", "-qAt", "-c", sql], dict(os.environ))


def _run(command: list[str], environment: dict[str, str]) -> str:
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(process.stderr)
    return process.stdout.strip()
