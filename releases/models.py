"""Exclusion plans, reasons of deviations, releases, publications, model scores, comparisons and looks."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from experiments.models import (
    AuditEntry,
    Experiment,
    Job,
    LabMembership,
    MaterialSet,
    Membership,
    Mode,
    PlatformAccount,
    Sentence,
)
from judgments.models import Session, Trial

SCORING_STARTED = "scoring started"
"""Action in a study's history, whose details name the run."""


class ExclusionPlan(models.Model):
    """A versioned recipe of exclusion steps. A change makes the next version."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="exclusion_plans")
    name = models.SlugField(max_length=60)
    version = models.PositiveIntegerField(default=1)
    steps = models.JSONField(default=list)
    sha256 = models.CharField(max_length=64)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    locked_before_first_response = models.BooleanField(default=False, help_text="Preregistered.")
    is_current = models.BooleanField(
        default=False, help_text="Used by all results of the study unless another plan is chosen."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["experiment", "name", "-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["experiment"], condition=Q(is_current=True), name="one_current_plan_per_study"
            ),
            models.UniqueConstraint(fields=["experiment", "name", "version"], name="plan_version_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="plan_version_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class Exclusion(models.Model):
    """One row of a plan's mask: a session or a trial, and the first step that removed it."""

    plan = models.ForeignKey(ExclusionPlan, on_delete=models.CASCADE, related_name="exclusions")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="exclusions")
    trial = models.ForeignKey(
        Trial, null=True, blank=True, on_delete=models.CASCADE, related_name="exclusions"
    )
    step = models.CharField(max_length=60)
    reason = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["plan", "session"],
                condition=Q(trial__isnull=True),
                name="session_excluded_once_per_plan",
            ),
            models.UniqueConstraint(
                fields=["plan", "trial"],
                condition=Q(trial__isnull=False),
                name="trial_excluded_once_per_plan",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.plan}: session {self.session_id} by {self.step}"


class DeviationReason(models.Model):
    """Why a study deviates from its frozen plan, in one version; the newest row of a key counts."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="deviation_reasons")
    key = models.CharField(max_length=200, help_text="Key of the row in the list of deviations.")
    text = models.TextField(blank=True, help_text="Empty: the reason was withdrawn.")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["experiment", "key", "-id"]

    def __str__(self) -> str:
        return f"{self.experiment_id}: {self.key}"


class Release(models.Model):
    """A frozen, checksummed gold release of a study."""

    class State(models.TextChoices):
        """Progress of building the files."""

        BUILDING = "building", "being built"
        READY = "ready", "ready"
        FAILED = "failed", "failed"

    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=200, blank=True)
    plan = models.ForeignKey(
        ExclusionPlan, null=True, blank=True, on_delete=models.PROTECT, related_name="releases"
    )
    options = models.JSONField(
        default=dict, blank=True, help_text="Exclusions, rule, ties and seed, as asked for."
    )
    state = models.CharField(max_length=8, choices=State.choices, default=State.BUILDING)
    storage_key = models.CharField(max_length=300, blank=True, help_text="Folder in the release storage.")
    manifest = models.JSONField(default=dict, blank=True)
    sha256 = models.CharField(max_length=64, blank=True, help_text="Of manifest.json.")
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["experiment", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "number"], name="release_number_once"),
            models.CheckConstraint(
                condition=~Q(state="ready") | ~Q(sha256=""), name="ready_release_has_checksum"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.experiment.slug} release {self.number}"


class Publication(models.Model):
    """A release in a repository: its deposit, address and DOI; the files of the release never change."""

    class State(models.TextChoices):
        """Progress of sending."""

        SENDING = "sending", "being sent"
        DONE = "done", "verified"
        FAILED = "failed", "failed"

    class Place(models.TextChoices):
        """Repository of the publication."""

        HUGGINGFACE = "huggingface", "Hugging Face"
        ZENODO = "zenodo", "Zenodo"
        OSF = "osf", "OSF"

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="publications")
    place = models.CharField(max_length=12, choices=Place.choices)
    target = models.CharField(max_length=200, blank=True, help_text="ORG/NAME on Hugging Face.")
    mode = models.CharField(
        max_length=4, choices=Mode.choices, default=Mode.TEST, help_text="Test: in the repository's sandbox."
    )
    account = models.ForeignKey(PlatformAccount, null=True, on_delete=models.SET_NULL, related_name="+")
    is_public = models.BooleanField(default=False, help_text="Asked for; a draft otherwise.")
    state = models.CharField(max_length=8, choices=State.choices, default=State.SENDING)
    marker = models.UUIDField(
        default=uuid.uuid4, editable=False, help_text="Sent along, so that a deposit is found again."
    )
    deposit_id = models.CharField(max_length=200, blank=True)
    address = models.URLField(max_length=500, blank=True)
    doi = models.CharField(max_length=200, blank=True, help_text="Reserved while the deposit is a draft.")
    is_open = models.BooleanField(default=False, help_text="Public in the repository, when last verified.")
    facts = models.JSONField(default=dict, blank=True, help_text="Files, bytes and revision as verified.")
    error = models.TextField(blank=True)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    verified_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["release", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["release", "place", "target", "mode"], name="publication_once_per_place"
            )
        ]

    def __str__(self) -> str:
        return f"{self.release} on {self.place}"

    @property
    def in_sandbox(self) -> bool:
        """Whether it is in a repository's sandbox; Hugging Face has none."""
        return self.mode == Mode.TEST and self.place != self.Place.HUGGINGFACE

    @property
    def place_name(self) -> str:
        """The repository, its sandbox, and the dataset there."""
        sandbox = " sandbox" if self.in_sandbox else ""
        return f"{self.get_place_display()}{sandbox}{f' {self.target}' if self.target else ''}"


class ScoringRunQuerySet(models.QuerySet["ScoringRun"]):
    """Queries on scoring runs."""

    def of_study(self, study: Experiment) -> "ScoringRunQuerySet":
        """Return the runs over the study's materials that count as the study's own.

        Materials may be in studies of several teams, such as a viewer's copy. A study has the runs that were
        started in it or compared on its releases, those of its editors and of the owner of the materials, and
        those without an account that no other study started.
        """
        starts = AuditEntry.objects.filter(action=SCORING_STARTED)
        orphans = self.filter(material_set=study.materials_id, created_by__isnull=True)
        elsewhere = starts.exclude(experiment=study).filter(
            details__run__in=list(orphans.values_list("pk", flat=True))
        )
        lab_editors = LabMembership.objects.filter(
            lab__isnull=False, lab=study.lab_id, role__in=LabMembership.Role.editing()
        )
        editors = study.memberships.filter(role__in=Membership.Role.editing())
        is_own = (
            Q(pk__in=list(starts.filter(experiment=study).values_list("details__run", flat=True)))
            | Q(pk__in=Comparison.objects.filter(release__experiment=study).values("runs"))
            | Q(pk__in=orphans.exclude(pk__in=list(elsewhere.values_list("details__run", flat=True))))
            | Q(created_by=F("material_set__owner"))
            | Q(created_by__in=editors.values("user"))
            | Q(created_by__in=lab_editors.values("user"))
        )
        return self.filter(is_own, material_set=study.materials_id)

    def done(self) -> "ScoringRunQuerySet":
        """Return finished runs."""
        return self.filter(state=ScoringRun.State.DONE)


class ScoringRun(models.Model):
    """One model over one material set by one method."""

    class State(models.TextChoices):
        """Progress of scoring."""

        QUEUED = "queued", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    material_set = models.ForeignKey(MaterialSet, on_delete=models.CASCADE, related_name="scoring_runs")
    name = models.CharField(max_length=200, help_text="Shown in tables.")
    model = models.CharField(max_length=500, help_text="URI, such as arpa:models/trigram.arpa.")
    revision = models.CharField(max_length=100, blank=True, help_text="Commit or SHA-256 of what was run.")
    method = models.CharField(max_length=40, default="lp")
    spec = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    n_sentences = models.PositiveIntegerField(default=0)
    n_missing = models.PositiveIntegerField(default=0)
    scorer = models.ForeignKey(
        "ScorerSpec", null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
    )
    shards: "models.ManyToManyField[ScoreShard, Any]" = models.ManyToManyField(
        "ScoreShard", blank=True, related_name="runs"
    )
    n_distinct = models.PositiveIntegerField(default=0, help_text="Different sentences it needs scores of.")
    n_cached = models.PositiveIntegerField(default=0, help_text="Of these, known before it began.")
    error = models.TextField(blank=True)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="scoring_runs",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ScoringRunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.method})"


def model_names(runs: Sequence[ScoringRun]) -> list[str]:
    """Return a name for each run; equal names are extended by the method, then by the number."""
    names = [run.name for run in runs]
    full = [
        name if names.count(name) == 1 else f"{name} ({run.method})"
        for name, run in zip(names, runs, strict=True)
    ]
    return [
        name if full.count(name) == 1 else f"{name}, run {run.pk}"
        for name, run in zip(full, runs, strict=True)
    ]


class ScorerSpec(models.Model):
    """Everything that affects a scorer's numbers, with its exact revision; part of the score cache's key."""

    spec_id = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the specification.")
    spec = models.JSONField()
    software = models.JSONField(
        default=dict, blank=True, help_text="Versions its scores were made or checked with; not in the key."
    )
    sentences_per_s = models.FloatField(null=True, blank=True, help_text="Of one process, when last scored.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.spec.get('uri', '')[:80]} {self.spec_id[:12]}"


class CachedScore(models.Model):
    """The score of a sentence's exact bytes by one scorer; shared by all studies."""

    scorer = models.ForeignKey(
        ScorerSpec, on_delete=models.CASCADE, related_name="cached", db_index=False
    )  # no index of its own: the unique constraint's index begins with this column
    sentence_sha = models.BinaryField(max_length=32, help_text="SHA-256 of the sentence in UTF-8.")
    logprob = models.FloatField(null=True, help_text="Natural logarithm; none where it is not finite.")
    unigram_logprob = models.FloatField(null=True)
    n_tokens = models.PositiveIntegerField()
    n_words = models.PositiveIntegerField()
    n_chars = models.PositiveIntegerField()
    n_unk = models.PositiveIntegerField()
    flags = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["scorer", "sentence_sha"], name="cached_once_per_scorer_and_sentence"
            )
        ]

    def __str__(self) -> str:
        return f"{self.scorer_id}/{bytes(self.sentence_sha).hex()[:12]}"


class ScoreShard(models.Model):
    """About two thousand sentences for one scorer: leased by one worker, stored in one transaction."""

    class State(models.TextChoices):
        """Progress of scoring."""

        QUEUED = "queued", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    scorer = models.ForeignKey(ScorerSpec, on_delete=models.CASCADE, related_name="shards", db_index=False)
    number = models.PositiveIntegerField(help_text="From 1, by scorer.")
    sentences = models.JSONField(help_text="Ids of the sentences, neighbours sharing beginnings.")
    n_sentences = models.PositiveIntegerField()
    n_done = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveIntegerField(
        default=0, help_text="Counts the claims; a stale one stores no end."
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True, help_text="Scoring alone, without opening the model.")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["scorer", "number"]
        indexes = [models.Index(fields=["scorer", "state"], name="shard_scorer_state")]
        constraints = [
            models.UniqueConstraint(fields=["scorer", "number"], name="shard_number_once_per_scorer"),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "failed"]), name="shard_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"shard {self.number}: {self.state}"


class SentenceScore(models.Model):
    """The score a run gave a sentence."""

    run = models.ForeignKey(ScoringRun, on_delete=models.CASCADE, related_name="scores")
    sentence = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="scores")
    score = models.FloatField(help_text="By the run's method; natural logarithms.")
    logprob = models.FloatField(null=True, blank=True)
    n_tokens = models.PositiveIntegerField(null=True, blank=True)
    n_unknown = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["run", "sentence"]
        constraints = [
            models.UniqueConstraint(fields=["run", "sentence"], name="score_once_per_run_and_sentence")
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.sentence_id}: {self.score:.3f}"


class Comparison(models.Model):
    """Models compared with participants on one release, with all conventions of the numbers."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="comparisons")
    runs = models.ManyToManyField(ScoringRun, related_name="comparisons")
    title = models.CharField(max_length=200, blank=True)
    options = models.JSONField(default=dict, blank=True)
    report = models.JSONField(default=dict, blank=True)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.title or f"comparison {self.pk}"


class Look(models.Model):
    """An interim look at results during data collection: one row per user and number of judgments."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="looks")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    n_judgments = models.PositiveIntegerField(help_text="Judgments there were.")
    where = models.CharField(max_length=20, help_text="The page, or command.")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["experiment", "at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["experiment", "user", "n_judgments"], name="look_once_per_state_of_the_data"
            )
        ]

    def __str__(self) -> str:
        return f"{self.experiment_id}: {self.where} at {self.n_judgments} judgments"
