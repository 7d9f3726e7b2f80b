"""Panels and pools: sites that send participants with an id in the link, and return links.

A preset fills in what a site's own pages say about its parameters and return links. The id in such a link is
a claim: it is stored in the vault and returned to the site, and it opens no earlier session.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.http import HttpRequest
from django.urls import reverse

from analysis.errors import BadInput
from experiments.models import Campaign, Experiment
from experiments.studies.completion_url import checked_address
from judgments.recruitment.recruiter import BUILT_IN

PANEL = "panel"
OUTCOMES = {
    "complete": "Completed",
    "screened_out": "Screened out",
    "over_quota": "Quota or study full",
    "refused": "No consent",
    "left": "Stopped before the end",
}
PARAMETER = re.compile(r"[A-Za-z_][\w-]{0,39}", re.ASCII)


@dataclass(frozen=True)
class Preset:
    """Preset of a site: the value that it fills into each parameter, and its return links.

    ``link`` maps each parameter to the placeholder that the site replaces by the participant's value; the
    first is the participant's id, the second, if any, the id of the submission.
    """

    label: str
    link: dict[str, str]
    returns: dict[str, str] = field(default_factory=dict)
    hint: str = ""

    @property
    def id_parameter(self) -> str:
        """The parameter with the participant's id."""
        return next(iter(self.link), "")

    @property
    def submission_parameter(self) -> str:
        """The parameter with the id of the submission."""
        return next(iter(list(self.link)[1:]), "")


PROLIFIC_RETURN = "https://app.prolific.com/submissions/complete?cc="
PRESETS = {
    "sona": Preset(
        "SONA Systems",
        {"survey_code": "%SURVEY_CODE%"},
        {
            "complete": "https://YOUR-SCHOOL.sona-systems.com/webstudy_credit.aspx"
            "?experiment_id=EXPERIMENT-ID&credit_token=CREDIT-TOKEN&survey_code={participant}"
        },
        "SONA shows this as the client-side completion URL of the study; opening it grants the credit.",
    ),
    "connect": Preset(
        "CloudResearch Connect",
        {"participantId": "", "assignmentId": "", "projectId": ""},
        {"complete": "https://connect.cloudresearch.com/participant/project/PROJECT-ID/complete"},
        "Connect appends the parameters itself. Copy the completion links from the project's page there.",
    ),
    "prolific": Preset(
        "Prolific, by link",
        {
            "PROLIFIC_PID": "{{%PROLIFIC_PID%}}",
            "SESSION_ID": "{{%SESSION_ID%}}",
            "STUDY_ID": "{{%STUDY_ID%}}",
        },
        {
            "complete": f"{PROLIFIC_RETURN}COMPLETION-CODE",
            "screened_out": f"{PROLIFIC_RETURN}SCREEN-OUT-CODE",
            "over_quota": f"{PROLIFIC_RETURN}OVER-QUOTA-CODE",
            "refused": f"{PROLIFIC_RETURN}NO-CONSENT-CODE",
        },
        "Make one completion path for each outcome in the Prolific study, and paste its code. Leave a link"
        " empty where the study has no such path: these people have to return their submission there.",
    ),
    "surveyswap": Preset(
        "SurveySwap",
        {},
        {"complete": "https://surveyswap.io/sr/YOUR-CODE"},
        "SurveySwap sends no id; its completion link is shown when you post the survey.",
    ),
    "company": Preset(
        "A panel company",
        {"pid": "[ID]"},
        {},
        "The company's project manager names the parameter, the text that is replaced by the id, and three"
        " return links: complete, screen-out and quota full.",
    ),
    "class": Preset(
        "A class or another list",
        {},
        {},
        "Without an id in the link. For a link of one's own for each person, see personal links.",
    ),
}

BLANKS = {
    blank
    for preset in PRESETS.values()
    for template in preset.returns.values()
    for blank in re.findall(r"[A-Z]+(?:-[A-Z]+)+", template)
}  # YOUR-SCHOOL, to be replaced by the researcher


def read_options(
    *, preset: str, id_parameter: str, submission_parameter: str, returns: Mapping[str, str]
) -> dict[str, object]:
    """Check the settings of a channel and return them as they are stored; raises ``BadInput``."""
    for name in filter(None, (id_parameter, submission_parameter)):
        if not PARAMETER.fullmatch(name):
            raise BadInput(
                f"{name!r} cannot be a parameter of a link.",
                remedy="Use letters, digits, _ and -, and begin with a letter.",
            )
    if id_parameter and id_parameter.lower() == submission_parameter.lower():
        raise BadInput("both parameters have the same name.", remedy="Leave the second one empty.")
    checked = {}
    for outcome, template in returns.items():
        if not template.strip():
            continue
        if blanks := [blank for blank in sorted(BLANKS, key=template.find) if blank in template]:
            raise BadInput(
                f"the return link for “{OUTCOMES[outcome]}” still has {', '.join(blanks)} in it.",
                remedy="Replace it by your own value, or clear the link.",
            )
        checked[outcome] = checked_address(template)
    return {
        "preset": preset,
        "id_parameter": id_parameter,
        "submission_parameter": submission_parameter,
        "returns": checked,
    }


def find_channel(experiment: Experiment, name: str) -> Campaign | None:
    """The panel channel, or a plugin's campaign, of a study with this name in its address."""
    channels = Campaign.objects.filter(experiment=experiment, name=name)
    return channels.exclude(recruiter__in=set(BUILT_IN) - {PANEL}).first()


def id_parameters(channel: Campaign) -> tuple[str, str]:
    """Names of the parameters with the participant's id and the submission's; empty where there is none."""
    options = channel.options
    return str(options.get("id_parameter", "")), str(options.get("submission_parameter", ""))


def campaign_link(campaign: Campaign) -> str:
    """The address to which a plugin's platform sends participants, with the placeholders that it fills in."""
    path = reverse("take-panel", args=[campaign.experiment.link_slug, campaign.name])
    parameters = [f"{name}={value}" for name, value in campaign.options["link_parameters"].items() if value]
    return f"{campaign.options['site']}{path}{'?' if parameters else ''}{'&'.join(parameters)}"


def shared_link(request: HttpRequest, channel: Campaign) -> str:
    """The address to paste into the site, with the placeholders that the site fills in."""
    path = reverse("take-panel", args=[channel.experiment.link_slug, channel.name])
    preset = PRESETS.get(str(channel.options.get("preset")))
    replaced_by = {name.lower(): value for name, value in (preset.link if preset else {}).items()}
    parameters = [
        f"{name}={replaced_by.get(name.lower(), '[ID]')}" for name in id_parameters(channel) if name
    ]
    if preset:  # further parameters of the preset, such as the id of the study
        parameters += [f"{name}={value}" for name, value in list(preset.link.items())[2:]]
    parameters_of_link = [
        text for text in parameters if not text.endswith("=")
    ]  # else the site appends it itself
    return request.build_absolute_uri(path) + (
        f"?{'&'.join(parameters_of_link)}" if parameters_of_link else ""
    )
