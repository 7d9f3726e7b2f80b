"""Every place of the platform that takes a file, with a file that it accepts.

``tests/test_upload_fuzz.py`` compares the names with the forms, serializers and views that have file fields.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Facts = dict[str, Any]
SCORES = "sentence_id,fuzzed\n{sentence},-1.5\n"
PAIRS = "paradigm,sentence_good,sentence_bad\na,The cat sleeps.,The cat sleep.\na,Dogs run.,Dogs runs.\n"
JUDGMENTS = "participant,sentence_id,sentence,value\np1,s1,The cat sleeps.,7\np2,s1,The cat sleeps.,6\n"
WORDS = "lemma,category,class,pl\nzorblatt,noun,role,zorblatts\n"
WORDS_ABOUT = {"name": "invented{n}", "language": "en", "source": "Own words", "licence": "CC0-1.0"}
IMPORTED = {"experiment": "fuzz {n}", "format": "auto"}
PREVIEW = "Preview: nothing is stored yet."


@dataclass(frozen=True)
class FileInput:
    """One field that takes a file.

    ``owner`` is the form, serializer or view of the field; ``accepted`` is part of the response to a valid
    file, or of its address. The address is filled in from the facts, and ``{n}`` in data by the request's
    number, so that names do not collide.
    """

    owner: str
    field: str
    address: str
    file: str
    content: Callable[[Facts], str]
    accepted: str
    data: Mapping[str, str] = field(default_factory=dict)
    other_files: Mapping[str, tuple[str, Callable[[Facts], str]]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name in messages and in the list of places."""
        return f"{self.owner}.{self.field}"

    @property
    def is_api(self) -> bool:
        """Whether the request is authenticated by a token."""
        return self.address.startswith("/api/")

    def path(self, facts: Facts) -> str:
        """The address with stored identifiers."""
        return self.address.format(**facts["uploads"])

    def fields(self, number: int) -> dict[str, str]:
        """The fields that are sent beside the file."""
        return {name: value.format(n=number) for name, value in self.data.items()}

    def valid(self, facts: Facts) -> tuple[str, bytes]:
        """Name and content of the file that has to be accepted."""
        return self.file, self.content(facts).encode()

    def files(self, facts: Facts, name: str, content: bytes) -> dict[str, tuple[str, bytes]]:
        """The file, and valid ones in the other fields that need one."""
        others = {field: (file, make(facts).encode()) for field, (file, make) in self.other_files.items()}
        return {**others, self.field: (name, content)}


def _scores(facts: Facts) -> str:
    return SCORES.format(sentence=facts["uploads"]["sentence"])


def _regions(facts: Facts) -> str:
    return f"sentence_id,region,start,end\n{facts['uploads']['sentence']},first,0,3\n"


def _export(facts: Facts) -> str:
    return f"Submission id,Participant id,Age\n{facts['uploads']['submission']},,31\n"


def _paradigm(facts: Facts) -> str:
    return str(facts["paradigm_text"])


STUDY, MODELS = "/studies/{study}/", "model,family\nfuzzed,a family\n"
FILE_INPUTS = (
    FileInput(
        "experiments.pages.materials.upload.UploadForm",
        "files",
        "/materials/upload/",
        "pairs.csv",
        lambda facts: PAIRS,
        PREVIEW,
        {"name": "fuzz {n}", "language": "en"},
    ),
    FileInput(
        "judgments.pages.import_views.UploadForm",
        "file",
        "/judgments/import/",
        "judgments.csv",
        lambda facts: JUDGMENTS,
        PREVIEW,
        IMPORTED,
    ),
    FileInput(
        "judgments.pages.import_views.UploadForm",
        "demographics",
        "/judgments/import/",
        "export.csv",
        _export,
        PREVIEW,
        IMPORTED,
        {"file": ("judgments.csv", lambda facts: JUDGMENTS)},
    ),
    FileInput(
        "judgments.recruitment.pages.demographic_views.UploadForm",
        "file",
        "/studies/{campaign_study}/campaigns/{campaign}/demographics/",
        "export.csv",
        _export,
        'name="joined"',
    ),
    FileInput(
        "judgments.recruitment.pages.channel_views.LinksForm",
        "file",
        STUDY + "links/",
        "people.csv",
        lambda facts: "participant,mail\nlab-01,a@example.org\n",
        "participant,mail,link",
    ),
    FileInput(
        "experiments.generation.pages.word_lists.WordsForm",
        "file",
        "/lexicon/own/new/",
        "words.csv",
        lambda facts: WORDS,
        "/lexicon/own/",
        WORDS_ABOUT,
    ),
    FileInput(
        "experiments.generation.pages.editor",
        "file",
        "/paradigms/new/",
        "paradigm.toml",
        _paradigm,
        "/own/",
    ),
    FileInput(
        "releases.views.study_templates",
        "template",
        "/studies/new/template/",
        "study.obelus.yaml",
        lambda facts: str(facts["template"]),
        "What this template makes",
    ),
    FileInput(
        "releases.scoring.forms.ScoringForm",
        "file",
        STUDY + "models/score/",
        "scores.csv",
        _scores,
        "/models/scored/",
        {"method": "lp"},
    ),
    FileInput(
        "releases.scoring.forms.ScoreSetsForm",
        "file",
        STUDY + "models/score-sets/",
        "scores.csv",
        _scores,
        "/models/scored/",
    ),
    FileInput(
        "releases.scoring.forms.ScoreSetsForm",
        "models",
        STUDY + "models/score-sets/",
        "models.csv",
        lambda facts: MODELS,
        "/models/scored/",
        other_files={"file": ("scores.csv", _scores)},
    ),
    FileInput(
        "releases.scoring.forms.SurprisalsForm",
        "regions",
        STUDY + "models/runs/{run}/surprisals/",
        "regions.csv",
        _regions,
        "#surprisals",
    ),
    FileInput(
        "releases.api.serializers.RunRequest",
        "file",
        "/api/v1/studies/{study}/scoring-runs/",
        "scores.csv",
        _scores,
        '"job"',
    ),
    FileInput(
        "releases.api.serializers.ScoreSetsRequest",
        "file",
        "/api/v1/studies/{study}/score-sets/",
        "scores.csv",
        _scores,
        '"job"',
    ),
    FileInput(
        "releases.api.serializers.ScoreSetsRequest",
        "models",
        "/api/v1/studies/{study}/score-sets/",
        "models.csv",
        lambda facts: MODELS,
        '"job"',
        other_files={"file": ("scores.csv", _scores)},
    ),
)
