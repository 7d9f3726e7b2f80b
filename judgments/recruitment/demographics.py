"""Prolific's demographic export, joined to pseudonyms: ids of the platform are compared, never stored here.

The file is read in memory. What leaves this module has the primary keys of participants, and the answers
become part of their background under names such as ``prolific_age``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from experiments.models import AuditEntry, Campaign
from judgments.imports.readers.prolific import PREFIX, read_demographic_export
from judgments.models import Participant, PlatformIdentity, Submission

DEMOGRAPHICS = "demographics"  # key of platform_data


@dataclass(frozen=True)
class JoinedExport:
    """Answers by participant (primary key) and name, with labels of the names and what was not joined."""

    labels: dict[str, str]
    answers: dict[int, dict[str, str]]
    n_rows: int
    n_elsewhere: int = 0  # rows of submissions that have no session here
    n_contradictory: int = 0  # rows whose submission belongs to another person here
    n_expired: int = 0  # answers that the platform withholds
    counts: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    @property
    def n_joined(self) -> int:
        """Participants with at least one answer."""
        return sum(bool(answers) for answers in self.answers.values())


def join_export(campaign: Campaign, content: bytes) -> JoinedExport:
    """Read the export and join it to the campaign's participants; raises ``BadInput``, and stores nothing."""
    export = read_demographic_export(content)
    people = _people(campaign)
    answers: dict[int, dict[str, str]] = {}
    n_elsewhere = n_contradictory = n_expired = 0
    for row in export.rows:
        participant = people.participant(row.submission, row.person)
        if participant is None:
            is_known = people.by_submission.get(row.submission) is not None
            n_contradictory += is_known
            n_elsewhere += not is_known
            continue
        n_expired += row.n_expired + row.n_revoked
        answers[participant] = dict(row.answers)
    return JoinedExport(
        dict(export.labels),
        answers,
        n_rows=len(export.rows),
        n_elsewhere=n_elsewhere,
        n_contradictory=n_contradictory,
        n_expired=n_expired,
        counts={name: _counts(answers, name) for name in export.labels},
    )


@transaction.atomic
def store_answers(
    campaign: Campaign,
    answers: Mapping[int, Mapping[str, str]],
    *,
    labels: Mapping[str, str],
    published: Sequence[str],
    by: User,
) -> int:
    """Add the answers of the columns in ``labels`` to the participants' background; returns their number.

    An earlier upload of the same column is replaced. ``published`` columns are part of releases.
    """
    names = {name for name in labels if name.startswith(PREFIX)}
    people = Participant.objects.filter(
        pk__in=list(answers), experiment=campaign.experiment_id, sessions__campaign=campaign, erased_at=None
    )
    # Race: the questionnaire writes the same field; one follows the other.
    locked = list(
        Participant.objects.filter(pk__in=people.values("pk")).order_by("pk").select_for_update(of=("self",))
    )
    for person in locked:
        texts = {name: text for name, text in answers[person.pk].items() if name in names}
        person.background = {
            **{name: value for name, value in person.background.items() if name not in names},
            **texts,
        }
    Participant.objects.bulk_update(locked, ["background"], batch_size=500)
    current = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
    stored = current.platform_data.get(DEMOGRAPHICS, {})
    current.platform_data[DEMOGRAPHICS] = {
        "labels": {**stored.get("labels", {}), **{name: labels[name] for name in names}},
        "published": sorted((set(stored.get("published", [])) - names) | (set(published) & names)),
        "n": len(locked),
    }
    current.save(update_fields=["platform_data"])
    campaign.platform_data = current.platform_data
    AuditEntry.objects.create(
        experiment=campaign.experiment,
        user=by,
        action="campaign: demographics stored",
        details={"campaign": campaign.name, "columns": sorted(names), "participants": len(locked)},
    )
    return len(locked)


@dataclass(frozen=True)
class _People:
    """Participants (primary keys) of a campaign by the platform's ids."""

    by_submission: dict[str, tuple[int, str]]
    by_person: dict[str, int]

    def participant(self, submission: str, person: str) -> int | None:
        """Return the participant of a row; None without a match, or if its two ids disagree."""
        if submission in self.by_submission:
            participant, own_id = self.by_submission[submission]
            return participant if not person or not own_id or person == own_id else None
        return self.by_person.get(person) if person else None


def _people(campaign: Campaign) -> _People:
    rows = Submission.objects.filter(campaign=campaign, session__isnull=False).values_list(
        "external_id", "session__participant", "session__participant__identity__external_id"
    )
    identities = PlatformIdentity.objects.filter(
        experiment=campaign.experiment_id,
        recruiter=campaign.recruiter,
        is_verified=True,
        participant__sessions__campaign=campaign,
    )
    return _People(
        {submission: (participant, own_id or "") for submission, participant, own_id in rows},
        dict(identities.values_list("external_id", "participant")),
    )


def _counts(answers: Mapping[int, Mapping[str, Any]], name: str) -> list[tuple[str, int]]:
    """The most frequent answers."""
    counts: dict[str, int] = {}
    for row in answers.values():
        if name in row:
            counts[row[name]] = counts.get(row[name], 0) + 1
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
