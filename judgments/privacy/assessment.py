"""Data-protection documents as Markdown: the record of processing, and a study's impact assessment."""

from django.utils import timezone

from analysis.text import plural
from experiments.models import Experiment, ExperimentVersion
from judgments.privacy.record import measures, processing_record, retention_periods
from judgments.recruitment.recruiter import platform_label
from judgments.sessions.protocol import load_protocol

TO_FILL_IN = "[to fill in: {}]"
#: Risks to participants, with the measures of the platform; a study adds its own.
RISKS = (
    (
        "A participant is recognized in published data",
        "Releases hold pseudonyms and only the questionnaire columns that are chosen; platform ids are in no "
        "export; columns that identify participants are named at import and by `check_releases`.",
    ),
    (
        "Platform ids or answers reach strangers",
        "Roles in each study; ids encrypted in one table apart from the answers; no-store on pages behind "
        "the login; tokens and ids removed from logs.",
    ),
    (
        "Data are kept longer than needed",
        "The periods below are carried out by a scheduled job; the history records each deletion.",
    ),
    (
        "A participant cannot use their rights",
        "Export and deletion of one person on the page and by `export_person` and `forget`; withdrawal by "
        "the participant at any time, without a reason.",
    ),
    (
        "Pay depends on the analysis",
        "Exclusion and pay are separate decisions; nothing rejects a participant automatically.",
    ),
)


def record_document() -> str:
    """The record of processing activities with the storage periods of this installation."""
    parts = [f"# Record of processing activities\n\nArticle 30 of the GDPR, {_today()}.\n"]
    for heading in processing_record():
        lines = heading.lines or [TO_FILL_IN.format(f"setting {heading.setting}")]
        parts.append(f"## {heading.name}\n\n" + "\n".join(f"- {line}" for line in lines) + "\n")
    return "\n".join([*parts, _retention()])


def assessment_document(study: Experiment) -> str:
    """A data-protection impact assessment of a study, filled from its settings; the rest is marked."""
    version = study.current_version()
    questions = [str(row["label"]) for row in study.questionnaire]
    closing = [str(row["label"]) for row in study.closing_questions]
    platforms = sorted(
        platform_label(name) for name in {*study.campaigns.values_list("recruiter", flat=True)} or {"direct"}
    )
    sections = {
        "Description of the processing": [
            f"Study: {study.shown_title} ({study.slug}), {study.get_status_display()}.",
            f"Task: {study.task.replace('_', ' ')}; language: {study.language}.",
            f"Target: {plural(study.target_judgments, 'judgment')} of each sentence or pair; at most "
            f"{study.max_participants or TO_FILL_IN.format('number')} participants.",
            f"Participants arrive by: {', '.join(platforms)}.",
            TO_FILL_IN.format("research question, funding, persons responsible, dates"),
        ],
        "Data of each participant": [
            "Pseudonym, consent with its time, answers, response times, what was shown.",
            f"Questionnaire: {'; '.join(questions) or 'none'}.",
            f"Questions at the end: {'; '.join(closing) or 'none'}"
            f"{'; a free comment' if study.closing_comment else ''}.",
            "Browser name, use of the page, a device mark that is valid in this study only; no IP address.",
            TO_FILL_IN.format("special categories (Article 9), vulnerable participants, or none"),
        ],
        "Lawfulness and proportionality": [
            f"Consent text: {_consent(version)}",
            f"Contact in the study: {study.contact or TO_FILL_IN.format('contact, under Task and texts')}.",
            TO_FILL_IN.format("legal basis, and why each question of the questionnaire is needed"),
            TO_FILL_IN.format("vote of the ethics board: number and date"),
        ],
    }
    parts = [f"# Data-protection impact assessment: {study.shown_title}\n\n{_today()}, from the settings.\n"]
    parts += [
        f"## {name}\n\n" + "\n".join(f"- {line}" for line in lines) + "\n" for name, lines in sections.items()
    ]
    rows = [f"| {risk} | {measure} | {TO_FILL_IN.format('low, medium, high')} |" for risk, measure in RISKS]
    table = "\n".join(["| risk | measures here | remaining risk |", "|---|---|---|", *rows])
    installed = "\n".join(f"- {line}" for line in measures())
    sign = "\n".join(
        f"- {TO_FILL_IN.format(text)}" for text in ("data-protection officer", "date, signatures")
    )
    return "\n".join(
        [
            *parts,
            _retention(),
            f"## Risks\n\n{table}\n\n{TO_FILL_IN.format('risks of this study: materials, topics, groups')}\n",
            f"## Measures of this installation\n\n{installed}\n",
            f"## Opinion and decision\n\n{sign}\n",
        ]
    )


def _consent(version: ExperimentVersion | None) -> str:
    if version is None:
        return TO_FILL_IN.format("the study has no saved version yet")
    statements = plural(len(load_protocol(version).consent_statements), "statement")
    return f"version {version.number}, {statements} to tick."


def _retention() -> str:
    rows = [f"| {row.data} | {row.until} | {row.decided_by} |" for row in retention_periods()]
    return "\n".join(["## Storage periods\n", "| data | until | decided by |", "|---|---|---|", *rows, ""])


def _today() -> str:
    return f"{timezone.now():%Y-%m-%d}"
