"""Platform ids of a file's participants go to the vault; everywhere else they are pseudonyms."""

import base64
import hashlib
import re
import secrets

from experiments.models import Experiment
from judgments.models import Participant, PlatformIdentity
from judgments.sources import JudgmentFile

LONGEST_EXTERNAL_ID = 100
#: What the ids of platforms look like; such an id is never used as a pseudonym.
PLATFORM_IDS = {
    "mturk": re.compile(r"A(?=[0-9A-Z]*[0-9])[0-9A-Z]{9,19}"),
    "prolific": re.compile(r"[0-9a-f]{24}"),
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
}


def platform_of(name: str, *, stated: str = "") -> str:
    """The platform whose id a name is; empty for a pseudonym."""
    if stated:
        return stated
    return next((platform for platform, form in PLATFORM_IDS.items() if form.fullmatch(name.strip())), "")


def known_names(study: Experiment, read: JudgmentFile) -> dict[str, str]:
    """External ids of the file's sessions as they are stored; people not yet in the vault have none."""
    pseudonyms = _known_pseudonyms(study, read)
    return {
        session: external_id(session, person, pseudonyms.get(person, ""))
        for session, person in zip(read.sessions["session"], read.sessions["participant"], strict=True)
        if person in pseudonyms
    }


def external_id(session: str, person: str, pseudonym: str) -> str:
    """A session's name in its file, with the pseudonym in place of a platform's id."""
    name = session if person == pseudonym else session.replace(person, pseudonym)
    if len(name) <= LONGEST_EXTERNAL_ID:
        return name
    return hashlib.sha256(name.encode()).hexdigest()


def _known_pseudonyms(study: Experiment, read: JudgmentFile) -> dict[str, str]:
    platforms = {
        person: platform_of(person, stated=stated)
        for person, stated in zip(
            read.participants["participant"], read.participants["recruiter"], strict=True
        )
    }
    vault = {
        (recruiter, external): pseudonym
        for recruiter, external, pseudonym in PlatformIdentity.objects.filter(experiment=study).values_list(
            "recruiter", "external_id", "participant__pseudonym"
        )
    }
    names = {
        person: person if not platform else vault.get((platform, person), "")
        for person, platform in platforms.items()
    }
    return {person: name for person, name in names.items() if name}


def store_participants(study: Experiment, read: JudgmentFile, *, wanted: set[str]) -> dict[str, Participant]:
    """Make the participants who are not here yet; gives all wanted ones by their name in the file."""
    pseudonyms = _known_pseudonyms(study, read)
    stored = {one.pseudonym: one for one in Participant.objects.filter(experiment=study)}
    new, identities = {}, []
    for row in read.participants.itertuples():
        if row.participant not in wanted or pseudonyms.get(row.participant, "") in stored:
            continue
        platform = platform_of(row.participant, stated=row.recruiter)
        person = Participant(
            experiment=study,
            pseudonym=_new_pseudonym() if platform else row.participant,
            background=dict(row.background or {}),
            is_native=row.is_native,
        )
        new[row.participant] = person
        if platform:
            identities.append(
                PlatformIdentity(
                    participant=person, experiment=study, recruiter=platform, external_id=row.participant
                )
            )
    Participant.objects.bulk_create(new.values(), batch_size=1000)
    PlatformIdentity.objects.bulk_create(identities, batch_size=1000)
    old = {person: stored[name] for person, name in pseudonyms.items() if name in stored and person in wanted}
    return old | new


def _new_pseudonym() -> str:
    """Sixty random bits; who it is stands in the vault only."""
    return base64.b32encode(secrets.token_bytes(8)).decode().lower()[:12]
