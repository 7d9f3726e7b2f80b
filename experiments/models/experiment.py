"""Studies and their frozen versions."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

from experiments.models.lab import in_team
from experiments.models.material import MaterialSet
from experiments.tasks.registry import task_names

MIN_DEADLINE_MS, MAX_DEADLINE_MS = 500, 600_000
MIN_CONTEXT_MS, MAX_CONTEXT_MS = 50, 600_000


class ExperimentQuerySet(models.QuerySet["Experiment"]):
    """Queries on studies."""

    def visible_to(self, user: Any) -> "ExperimentQuerySet":
        """Return the studies of which the user or the user's lab is a member; staff see all."""
        return self if user.is_staff else self.filter(in_team(user)).distinct()

    def editable_by(self, user: Any) -> "ExperimentQuerySet":
        """Return the studies that the user may change; staff may change all."""
        return self if user.is_staff else self.filter(in_team(user, editing=True)).distinct()


class Experiment(models.Model):
    """A study, from draft to closed."""

    class Status(models.TextChoices):
        """State in the lifecycle of a study."""

        DRAFT = "draft", "draft"
        PILOT = "pilot", "pilot"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

        @classmethod
        def taking_participants(cls) -> set[str]:
            """States in which a new participant may begin."""
            return {cls.PILOT, cls.OPEN}

        @classmethod
        def editable(cls) -> set[str]:
            """States in which texts and design may change without a new version."""
            return {cls.DRAFT}

    class Origin(models.TextChoices):
        """Origin of the judgments."""

        COLLECTED = "collected", "collected here"
        IMPORTED = "imported", "imported from elsewhere"

    class Completion(models.TextChoices):
        """Proof of completion for participants."""

        CODE = "code", "a code to copy"
        REDIRECT = "redirect", "a return link to another site, and the code"

    class QuizFailure(models.TextChoices):
        """Consequence of two failed attempts at the comprehension quiz."""

        GO_ON = "go_on", "continue, and flag the session"
        SCREEN_OUT = "screen_out", "end the session"

    class ContextDisplay(models.TextChoices):
        """Whether participants see the contexts of sentences."""

        ABOVE = "above", "above the sentence"
        BEFORE = "before", "on a separate screen before the sentence"
        HIDDEN = "hidden", "not shown"
        UNKNOWN = "unknown", "not known"  # of imported judgments

        @classmethod
        def shown(cls) -> "set[Experiment.ContextDisplay]":
            """Displays in which participants see the contexts."""
            return {cls.ABOVE, cls.BEFORE}

    class Data(models.TextChoices):
        """Sessions that results are computed from; different ones are never mixed."""

        COUNTED = "", "data collection"
        PILOT = "pilot", "pilot"
        DRY_RUN = "dry_run", "dry run"

    class TargetUnit(models.TextChoices):
        """Unit of the target number of judgments."""

        STIMULUS = "stimulus", "each sentence, or each pair where participants choose between two"
        ITEM = "item", "each item set, all its conditions together"

    #: Data that frames and reports of this instance read; not stored.
    data: str = Data.COUNTED

    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=200)
    public_title = models.CharField(
        max_length=200, blank=True, help_text="What participants see; empty = the title."
    )
    public_slug = models.SlugField(
        max_length=100,
        unique=True,
        null=True,
        blank=True,
        help_text="What the address for participants ends with; empty = the slug, which always answers too.",
    )
    description = models.TextField(blank=True, help_text="For researchers; participants never see it.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="experiments"
    )
    lab = models.ForeignKey(
        "experiments.Lab", null=True, blank=True, on_delete=models.PROTECT, related_name="studies"
    )
    folder = models.CharField(
        max_length=80, blank=True, db_default="", help_text="Name of the folder on the start page, if any."
    )
    origin = models.CharField(max_length=12, choices=Origin.choices, default=Origin.COLLECTED)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.DRAFT)
    materials = models.ForeignKey(
        MaterialSet, null=True, blank=True, on_delete=models.PROTECT, related_name="experiments"
    )
    task = models.CharField(max_length=40, default="forced_choice")
    parameters = models.JSONField(
        default=dict, blank=True, help_text="Parameters of the task; see its documentation."
    )
    # New studies show them; the default is that of versions frozen before this field.
    context_display = models.CharField(
        max_length=8,
        choices=ContextDisplay.choices,
        default=ContextDisplay.HIDDEN,
        db_default=ContextDisplay.HIDDEN.value,
        help_text="Whether and where participants see the contexts of the materials.",
    )
    context_ms = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(MIN_CONTEXT_MS), MaxValueValidator(MAX_CONTEXT_MS)],
        help_text="How long a context before the sentence is shown, in ms; empty = until participants go on.",
    )
    context_label = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether contexts have the label Context, or the study's own text for it.",
    )
    deadline_ms = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(MIN_DEADLINE_MS), MaxValueValidator(MAX_DEADLINE_MS)],
        help_text="Time for each answer in ms, from the onset of the trial; empty = no limit.",
    )
    deadline_bar = models.BooleanField(
        default=False, db_default=False, help_text="Whether a bar shows the time that is left."
    )
    language = models.CharField(max_length=35, default="en", help_text="Language of the interface, BCP 47.")
    consent = models.TextField(blank=True)
    consent_statements = models.JSONField(
        default=list, blank=True, help_text='Statements to tick: [{"text", "required"}].'
    )
    contact = models.CharField(
        max_length=200, blank=True, help_text="Mail address or page for participants' questions."
    )
    instructions = models.TextField(blank=True)
    questionnaire = models.JSONField(default=list, blank=True, help_text="Questions asked before the trials.")
    practice = models.JSONField(default=list, blank=True, help_text="Practice trials, with feedback.")
    practice_expected = models.TextField(
        blank=True, help_text="Comment on an expected practice answer without a comment of its own."
    )
    practice_other = models.TextField(
        blank=True, help_text="Comment on any other practice answer without a comment of its own."
    )
    anchors = models.JSONField(
        default=list, blank=True, help_text="Sentences that span the scale, shown first."
    )
    catch_trials = models.JSONField(default=list, blank=True, help_text="Trials with one right answer.")
    debrief = models.TextField(blank=True)
    closing_questions = models.JSONField(default=list, blank=True, help_text="Optional questions at the end.")
    closing_comment = models.BooleanField(
        default=False, help_text="Whether participants can write a comment at the end."
    )
    participant_texts = models.JSONField(
        default=dict, blank=True, help_text="Own texts in place of ours on participants' pages."
    )
    completion_code = models.CharField(
        max_length=40, blank=True, help_text="One code for all sessions; empty = a code for each session."
    )
    completion = models.CharField(max_length=8, choices=Completion.choices, default=Completion.CODE)
    completion_url = models.CharField(
        max_length=500, blank=True, help_text="https://…, with {code}, {participant} or {session}."
    )
    screen_out_code = models.CharField(
        max_length=40, blank=True, help_text="Shown to participants who are screened out."
    )
    partial_code = models.CharField(
        max_length=40, blank=True, help_text="Shown to participants who stop after at least one answer."
    )
    lab_mode = models.BooleanField(
        default=False, help_text="Several people take part one after another on one computer."
    )
    quiz = models.JSONField(default=list, blank=True, help_text="Questions about the instructions.")
    quiz_failure = models.CharField(max_length=10, choices=QuizFailure.choices, default=QuizFailure.GO_ON)
    resume_gap_minutes = models.PositiveIntegerField(
        default=10, validators=[MinValueValidator(1), MaxValueValidator(1440)]
    )
    resume_limit_days = models.PositiveIntegerField(
        default=7, validators=[MinValueValidator(1), MaxValueValidator(365)]
    )
    reward_minor = models.PositiveIntegerField(
        default=0, help_text="Pay for a complete session in minor units (cents, pence)."
    )
    currency = models.CharField(max_length=3, default="GBP", validators=[RegexValidator(r"^[A-Z]{3}$")])
    target_judgments = models.PositiveIntegerField(
        default=20, help_text="Target number of judgments of each sentence, or of each pair."
    )
    target_unit = models.CharField(
        max_length=8,
        choices=TargetUnit.choices,
        default=TargetUnit.STIMULUS,
        help_text="Item sets are counted only in studies that were opened with such a target.",
    )
    max_participants = models.PositiveIntegerField(null=True, blank=True)
    quotas = models.JSONField(
        default=list,
        blank=True,
        help_text='Most people for an answer: [{"question", "answer", "limit"}].',
    )
    lease_minutes = models.PositiveIntegerField(
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(1440)],
        help_text="Minutes without an answer after which a session's place is released.",
    )
    seed = models.PositiveBigIntegerField(default=0, help_text="Seed of lists and orders.")
    current_round = models.PositiveIntegerField(
        default=1, help_text="The round of the design that takes participants."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when it is in the archive; empty = it is not."
    )

    objects = ExperimentQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["draft", "pilot", "open", "paused", "closed"]),
                name="experiment_status_known",
            ),
            models.CheckConstraint(
                condition=Q(archived_at__isnull=True) | Q(status__in=["draft", "paused", "closed"]),
                name="archived_takes_nobody",
            ),
            models.CheckConstraint(
                condition=Q(lease_minutes__gte=1) & Q(lease_minutes__lte=1440), name="experiment_lease_sane"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        """Refuse unknown tasks."""
        if self.task not in task_names():
            raise ValidationError(
                {"task": f"Unknown task {self.task!r}; there are {', '.join(task_names())}."}
            )

    @property
    def shown_title(self) -> str:
        """Title on participants' pages."""
        return self.public_title or self.title

    @property
    def link_slug(self) -> str:
        """Last part of the address for participants."""
        return self.public_slug or self.slug

    @property
    def is_taking_participants(self) -> bool:
        """Whether a new participant may begin now."""
        return self.status in self.Status.taking_participants()

    def current_version(self) -> "ExperimentVersion | None":
        """Return the newest frozen version, if any; previews do not count."""
        return self.versions.filter(is_preview=False).order_by("-number").first()


class ExperimentVersion(models.Model):
    """A study as it was when opened: a JSON snapshot and its SHA-256, never changed."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    snapshot = models.JSONField()
    sha256 = models.CharField(max_length=64)
    is_preview = models.BooleanField(
        default=False, help_text="For trying out; numbered separately and never counted."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["experiment", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["experiment", "is_preview", "number"], name="version_number_once"
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="version_number_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.experiment.slug} version {self.number}"
