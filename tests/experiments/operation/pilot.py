"""An installation as a pilot leaves it, made and read by processes of its own.

``python -m tests.experiments.operation.pilot STEP`` works on the installation of the environment:

tables
    migrates an empty database;
rows
    stores materials, studies with answers, the vault, payments, a release with files, jobs and odd values;
results
    prints what the platform concludes of them as one JSON document;
next
    lets another participant take part and prints the ids of the new rows beside the largest former ones.
"""

import hashlib
import json
import sys
import tempfile
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import django

SLUG = "agreement"
SENTENCES = """item\tcondition\tsentence\texpected\tquelle
1\tgood\tДіти йдуть до школи.\tacceptable\t“Müller 2019”
1\tbad\tДіти йде до школи.\tunacceptable\t
2\tgood\tהילדים הולכים הביתה.\tacceptable\tʔə̃ 🎓
2\tbad\tהילדים הולך הביתה.\tunacceptable\t
"""
#: JSON that databases write differently, and texts that files break.
DOCUMENT = {
    "big": 1e16,
    "small": 5e-324,
    "zero": -0.0,
    "sum": 0.1 + 0.2,
    "whole": 2**70,
    "decimal": 1.0,
    "nothing": None,
    "deep": [[], {}, [None, True, 1, 1.0, {"ключ": {"מפתח": ["e\u0301", "é"]}}]],
    "text": 'ʕ•ᴥ•ʔ “quotes” \\ \\u0000 " \n\r\u2028 עברית ẹ́ \U0001f393',
    "": "",
}


def tables() -> None:
    """Make the tables of an empty installation."""
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)


def rows() -> None:
    """Store rows of all important kinds."""
    from django.core.management import call_command

    from tests import cast

    cast.user("root", is_staff=True, is_superuser=True, first_name="Zoë ʕ•ᴥ•ʔ", last_name="")
    cast.lab("Työpaja", ada="manager", ben="viewer")
    cast.token(cast.ada(), days=3)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sentences.tsv"
        file.write_text(SENTENCES)
        call_command(
            "import_materials", str(file), name="Пілот", language="uk", owner="ada", stdout=StringIO()
        )
    likert = cast.study("likert", task="likert", consent="Ви можете зупинитися будь-коли.")
    cast.sit(likert, "quentin", n=2)
    call_command("simulate", cast.study(SLUG).slug, participants=4, seed=3, stdout=StringIO())
    _person()
    _release()
    _operation()


def _person() -> None:
    """Somebody of a platform: in the vault, with a flag, a consent and a ledger of payments."""
    from experiments.models import Campaign, Experiment, Mode, PlatformAccount
    from judgments.models import Flag, Payment, SessionEvent, Signal, Submission
    from tests import cast

    study = Experiment.objects.get(slug=SLUG)
    account = PlatformAccount.objects.create(
        platform="prolific", label="lab", owner=cast.ada(), secrets=bytes(range(256)), options=DOCUMENT
    )
    account.experiments.add(study)
    campaign = Campaign.objects.create(
        **{"experiment": study, "recruiter": "prolific", "account": account, "mode": Mode.TEST},
        **{
            "name": "pilot",
            "state": "running",
            "places": 2**31 - 1,
            "total_limit_minor": 2**63 - 1,
            "currency": "EUR",
        },
    )
    personal = {"PROLIFIC_PID": "5f0c1d2e3a4b5c6d7e8f9012", "name": "Zoë “Z” Ó Briain"}
    session = cast.sit(
        study,
        "pia",
        recruiter="prolific",
        external_id=personal["PROLIFIC_PID"],
        is_verified=True,
        personal=personal,
        user_agent="Mozilla/5.0 (ключ)",
        campaign=campaign,
    )
    session.seed, session.attributes = 2**63 - 1, DOCUMENT
    session.started_at = datetime(2026, 2, 28, 23, 59, 59, 999999, tzinfo=UTC)
    session.last_seen_at = datetime(2026, 3, 1, tzinfo=UTC)  # without microseconds
    session.save()
    session.participant.identity.purge_at = date(2028, 2, 29)
    session.participant.identity.save()
    for native in (True, False, None):
        cast.participant(study, f"native-{native}", is_native=native, background=DOCUMENT)
    seen = {"last_seen_at": datetime(2026, 3, 1, 12, 0, 0, 1, tzinfo=UTC)}
    Submission.objects.create(campaign=campaign, session=session, external_id="S-1", data=DOCUMENT, **seen)
    reward = {"session": session, "kind": "reward", "amount_minor": 2**31 - 1, "currency": "EUR"}
    paid = Payment.objects.create(**reward, idempotency_key="1", decided_by=cast.ada())
    reversal = {**reward, "kind": "reversal", "reason": "doppelt: “zweimal”"}
    Payment.objects.create(**reversal, reverses=paid, idempotency_key="2")
    Flag.objects.create(participant=session.participant, session=session, reason="слишком быстро")
    Signal.objects.create(session=session, name="speed", version=1, value=-1e-300, reason="quick")
    for details in (DOCUMENT, "a text", None, [], 0.1, True, -(2**63)):
        SessionEvent.objects.create(session=session, kind="paste", details=_json(details))


def _json(value: Any) -> Any:
    from django.db.models import JSONField, Value

    return Value(None, JSONField()) if value is None else value


def _release() -> None:
    """A frozen release, the job that built it, and scores."""
    import releases.jobs  # noqa: F401 - registers the kinds of job
    from experiments.models import Experiment, Job
    from experiments.operation.job_runner import run
    from releases.gold.freeze import request_release
    from releases.gold.options import Options
    from releases.models import CachedScore, Release, ScorerSpec
    from tests import cast

    study = Experiment.objects.get(slug=SLUG)
    release = request_release(study, Options(), title="Vorläufig – “Pilot”", user=cast.ada())
    assert release.job is not None
    run(release.job.pk)
    release.refresh_from_db()
    assert release.state == Release.State.READY, Job.objects.get(pk=release.job.pk).error
    spec = ScorerSpec.objects.create(spec_id="0" * 64, spec={"model": "arpa:x"}, sentences_per_s=1 / 3)
    fields = {"n_tokens": 1, "n_words": 1, "n_chars": 1, "n_unk": 0}
    for number, logprob in enumerate((-1 / 3, None, -1.7976931348623157e308, 5e-324, 0.0)):
        sha = hashlib.sha256(bytes([number])).digest()
        CachedScore.objects.create(scorer=spec, sentence_sha=sha, logprob=logprob, **fields)


def _operation() -> None:
    """An upload with its file, jobs in every state, a webhook and an entry of the history."""
    from django.core.files.base import ContentFile

    from experiments.models import AuditEntry, Experiment, Job, Upload, Webhook
    from tests import cast

    study = Experiment.objects.get(slug=SLUG)
    upload = Upload(owner=cast.ada(), batch=uuid.uuid4(), name="Sätze ʔ.csv", sha256="0" * 64)
    upload.purpose, upload.options = "materials", DOCUMENT
    upload.file.save("ignored", ContentFile(b"\x00\xff sentence\r\n" * 10_000))
    for state in Job.State.values:
        Job.objects.create(kind="materials.import", state=state, arguments=DOCUMENT, result={"ok": None})
    Job.objects.update(heartbeat_at=datetime.now(UTC) - timedelta(days=400, microseconds=1))
    Webhook.objects.create(
        experiment=study, address="https://example.org/ключ", events=["release.frozen"], secret="пароль"
    )
    AuditEntry.objects.create(experiment=study, user=cast.ada(), action="note", details=DOCUMENT)


def results() -> None:
    """Print the output of commands of the contract, and what the vault and the storages hold."""
    from django.core.files.storage import storages
    from django.core.management import call_command

    from experiments.models import Webhook
    from experiments.operation.backup import file_names
    from judgments.models import PlatformIdentity

    outputs = {}
    for words in (("agreement", SLUG), ("items", SLUG), ("ratings", "likert"), ("exclusions", SLUG)):
        call_command(*words, json=True, stdout=(out := StringIO()))
        outputs[" ".join(words)] = out.getvalue()
    document = {
        "outputs": outputs,
        "vault": [
            [row.external_id, row.parameters, str(row.purge_at)]
            for row in PlatformIdentity.objects.order_by("pk")
        ],
        "webhooks": [row.secret for row in Webhook.objects.order_by("pk")],
        "files": {
            f"{alias}/{name}": hashlib.sha256(storages[alias].open(name).read()).hexdigest()
            for alias in ("default", "releases")
            for name in file_names(storages[alias])
        },
    }
    print(json.dumps(document, ensure_ascii=False))


def next_participant() -> None:
    """Let another person take part, and print the largest former id and the new ids by table."""
    from django.core.management import call_command

    from experiments.models import AuditEntry
    from judgments.models import Judgment, Participant, Payment, Session, Trial

    models = (Session, Trial, Judgment, Participant, AuditEntry, Payment)
    former = {model: max(model._base_manager.values_list("pk", flat=True)) for model in models}
    call_command("simulate", SLUG, participants=1, seed=99, json=True, stdout=StringIO())
    session = Session.objects.latest("pk")
    Payment.objects.create(
        session=session, kind="bonus", amount_minor=1, currency="EUR", idempotency_key="next"
    )
    AuditEntry.objects.create(experiment=session.experiment, action="note")
    new = {
        model._meta.label: [
            former[model],
            sorted(model._base_manager.filter(pk__gt=former[model]).values_list("pk", flat=True)),
        ]
        for model in models
    }
    print(json.dumps(new))


STEPS: dict[str, Callable[[], None]] = {
    "tables": tables,
    "rows": rows,
    "results": results,
    "next": next_participant,
}

if __name__ == "__main__":
    django.setup()
    for step in sys.argv[1:]:
        STEPS[step]()
