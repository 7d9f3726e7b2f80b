"""Shapes of Prolific's requests and answers as JSON schemas, written from the published reference."""

from typing import Any

Schema = dict[str, Any]

ID: Schema = {"type": "string", "pattern": "^[0-9a-f]{24}$"}
TEXT: Schema = {"type": "string", "minLength": 1}
MINOR: Schema = {"type": "integer", "minimum": 0}
MOMENT: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$"}

STUDY_STATUSES = [
    "UNPUBLISHED",
    "SCHEDULED",
    "PUBLISHING",
    "ACTIVE",
    "AWAITING REVIEW",
    "PAUSED",
    "COMPLETED",
]
SUBMISSION_STATUSES = [
    "RESERVED",
    "ACTIVE",
    "TIMED-OUT",
    "AWAITING REVIEW",
    "APPROVED",
    "PARTIALLY APPROVED",
    "RETURNED",
    "REJECTED",
    "SCREENED OUT",
    "UNKNOWN",
]
REJECTION_CATEGORIES = [
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
]
CODE_TYPES = [
    "COMPLETED",
    "FAILED_ATTENTION_CHECK",
    "FOLLOW_UP_STUDY",
    "GIVE_BONUS",
    "INCOMPATIBLE_DEVICE",
    "NO_CONSENT",
    "OTHER",
    "FIXED_SCREENOUT",
    "SCREENED_IN",
    "SCREENED_OUT",
]
MIN_REJECTION_CHARACTERS = 100
MAX_BULK_APPROVALS = 1000
MAX_BONUS_LINES = 200
MINIMUM_PAGE_SIZE, PAGE_SIZE_LIMIT = 1, 100


def array(items: Schema, **limits: int) -> Schema:
    """An array of items of one shape."""
    return {"type": "array", "items": items, **limits}


def record(required: dict[str, Schema], **optional: Schema) -> Schema:
    """An object with required and optional members and no others."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def nullable(shape: Schema) -> Schema:
    """A shape, or null."""
    return {"anyOf": [shape, {"type": "null"}]}


def one_of(*values: Any) -> Schema:
    """One of a few values."""
    return {"enum": list(values)}


ACTION: Schema = {
    "oneOf": [
        record({"action": one_of("AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "DYNAMIC_PAYMENT")}),
        record(
            {
                "action": one_of("ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP"),
                "participant_group": ID,
            }
        ),
        record({"action": one_of("REQUEST_RETURN"), "return_reason": TEXT}),
        record(
            {
                "action": one_of("FIXED_SCREEN_OUT_PAYMENT"),
                "fixed_screen_out_reward": {"type": "integer", "minimum": 1},
                "slots": {"type": "integer", "minimum": 1},
            }
        ),
    ]
}
COMPLETION_CODE = record(
    {"code": nullable(TEXT), "code_type": one_of(*CODE_TYPES), "actions": array(ACTION)},
    actor=one_of("participant", "researcher"),
)
SELECT_FILTER = record(
    {"filter_id": TEXT, "selected_values": array({"type": "string"}, minItems=1)},
    weightings={"type": "object"},
)
RANGE_FILTER = record(
    {
        "filter_id": TEXT,
        "selected_range": {
            "type": "object",
            "properties": {"lower": {"type": "number"}, "upper": {"type": "number"}},
            "minProperties": 1,
            "additionalProperties": False,
        },
    }
)
GROUP_FILTER = record(
    {"filter_id": one_of("and", "or"), "selected_filters": array({"type": "object"}, minItems=1)}
)
FILTER: Schema = {"oneOf": [SELECT_FILTER, RANGE_FILTER, GROUP_FILTER]}

STUDY_FIELDS: dict[str, Schema] = {
    "name": TEXT,
    "internal_name": {"type": "string"},
    "description": TEXT,
    "external_study_url": TEXT,
    "prolific_id_option": one_of("question", "url_parameters", "not_required"),
    "completion_codes": array(COMPLETION_CODE, minItems=1),
    "total_available_places": {"type": "integer", "minimum": 1},
    "estimated_completion_time": {"type": "integer", "minimum": 1},
    "maximum_allowed_time": {"type": "integer", "minimum": 1},
    "reward": {"type": "integer", "minimum": 1},
    "device_compatibility": array(one_of("desktop", "tablet", "mobile")),
    "peripheral_requirements": array(one_of("audio", "camera", "download", "microphone")),
    "filters": array(FILTER),
    "naivety_distribution_rate": nullable({"type": "number", "minimum": 0, "maximum": 1}),
    "project": ID,
    "submissions_config": record(
        {},
        max_submissions_per_participant={"type": "integer"},
        max_concurrent_submissions={"type": "integer"},
        auto_rejection_categories=array(one_of("EXCEPTIONALLY_FAST")),
    ),
    "study_labels": array(
        one_of("survey", "writing_task", "annotation", "decision_making_task", "interview", "other"),
        maxItems=1,
    ),
    "content_warnings": array(one_of("sensitive", "explicit")),
    "content_warning_details": {"type": "string"},
    "metadata": {"type": "string"},
    "is_external_study_url_secure": {"type": "boolean"},
}
REQUIRED_OF_STUDY = (
    "name",
    "description",
    "external_study_url",
    "prolific_id_option",
    "completion_codes",
    "total_available_places",
    "estimated_completion_time",
    "reward",
    "filters",
)
NEW_STUDY: Schema = {
    "type": "object",
    "properties": STUDY_FIELDS,
    "required": list(REQUIRED_OF_STUDY),
    "additionalProperties": False,  # so that obsolete members are noticed
}
CHANGED_STUDY: Schema = {**NEW_STUDY, "required": [], "minProperties": 1}
CHANGEABLE_AFTER_PUBLISHING = {
    "internal_name",
    "total_available_places",
    "submissions_config",
    "completion_codes",  # the slots of a paid screen-out only
}
STUDY: Schema = {
    "type": "object",
    "properties": {
        **STUDY_FIELDS,
        "id": ID,
        "status": one_of(*STUDY_STATUSES),
        "is_ready_to_publish": {"type": "boolean"},
        "places_taken": MINOR,
        "number_of_submissions": MINOR,
        "total_cost": MINOR,
    },
    "required": [*REQUIRED_OF_STUDY, "id", "status", "places_taken", "number_of_submissions", "total_cost"],
    "additionalProperties": False,
}
STUDY_OF_LIST = record(
    {
        "id": ID,
        "name": TEXT,
        "internal_name": {"type": "string"},
        "status": one_of(*STUDY_STATUSES),
        "total_available_places": MINOR,
        "places_taken": MINOR,
        "reward": MINOR,
    }
)
LINK = record({"href": nullable(TEXT)})


def page_of(items: Schema) -> Schema:
    """A page of a list."""
    return record(
        {
            "results": array(items),
            "_links": record({"self": LINK, "next": LINK, "previous": LINK, "last": LINK}),
            "meta": record({"count": MINOR}),
        }
    )


def results_of(items: Schema) -> Schema:
    """A list in one piece."""
    return record({"results": array(items)})


MONEY = record({"amount": MINOR, "currency": one_of("GBP", "USD")})
COST = record({"rewards": MONEY, "fees": MONEY, "tax": MONEY})
SUBMISSION = record(
    {
        "id": ID,
        "participant": ID,
        "status": one_of(*SUBMISSION_STATUSES),
        "study_id": ID,
        "started_at": MOMENT,
        "completed_at": nullable(MOMENT),
        "entered_code": nullable({"type": "string"}),
        "bonus_payments": array(MINOR),
        "return_requested": nullable(MOMENT),
    }
)
SUBMISSION_OF_LIST = record(
    {
        "id": ID,
        "participant_id": ID,
        "status": one_of(*SUBMISSION_STATUSES),
        "started_at": MOMENT,
        "completed_at": nullable(MOMENT),
        "study_code": nullable({"type": "string"}),
        "return_requested": nullable(MOMENT),
        "has_siblings": {"type": "boolean"},
    }
)
SUBMISSION_TRANSITION: Schema = {
    "oneOf": [
        record({"action": one_of("APPROVE", "UNREJECT")}),
        record(
            {
                "action": one_of("REJECT"),
                "message": {"type": "string", "minLength": MIN_REJECTION_CHARACTERS},
                "rejection_category": one_of(*REJECTION_CATEGORIES),
            }
        ),
    ]
}
GROUP = record({"id": ID, "name": TEXT, "workspace_id": ID, "description": {"type": "string"}})
PLATFORM_FILTER = record(
    {"filter_id": TEXT, "title": TEXT, "type": one_of("select", "range"), "data_type": TEXT},
    choices={"type": "object", "additionalProperties": {"type": "string"}},
    min={"type": "number"},
    max={"type": "number"},
)
BONUS_SET_UP = record(
    {"id": ID, "study": ID, "amount": MINOR, "fees": MINOR, "vat": MINOR, "total_amount": MINOR}
)
MESSAGE = record(
    {"id": ID, "sender_id": ID, "recipient_id": ID, "body": TEXT, "sent_at": MOMENT, "study_id": ID}
)
SUBSCRIPTION = record(
    {"id": ID, "workspace_id": ID, "event_type": TEXT, "target_url": TEXT, "is_enabled": {"type": "boolean"}}
)
HOOK_EVENT = record({"id": ID, "event_type": TEXT, "resource_id": ID, "status": TEXT, "attempts": MINOR})
ERROR = record(
    {
        "error": record(
            {"status": MINOR, "error_code": MINOR, "title": TEXT},
            detail={"type": ["string", "array", "object"]},
        )
    }
)
EMPTY: Schema = record({})
BASE = "/api/v1"
PARTICIPANT_IDS = record({"participant_ids": array(ID, minItems=1)})

#: (method, path) → (shape of the request, shape of the answer); None where there is no body.
ENDPOINTS: dict[tuple[str, str], tuple[Schema | None, Schema | None]] = {
    ("GET", "/users/me/"): (None, record({"id": ID, "email": TEXT})),
    ("GET", "/workspaces/"): (None, results_of(record({"id": ID, "title": TEXT}))),
    ("GET", "/workspaces/ID/balance/"): (None, record({"available_balance": MINOR})),
    ("GET", "/workspaces/ID/projects/"): (None, results_of(record({"id": ID, "title": TEXT}))),
    ("GET", "/projects/ID/studies/"): (None, page_of(STUDY_OF_LIST)),
    ("POST", "/studies/"): (NEW_STUDY, STUDY),
    ("GET", "/studies/ID/"): (None, STUDY),
    ("PATCH", "/studies/ID/"): (CHANGED_STUDY, STUDY),
    ("DELETE", "/studies/ID/"): (None, None),
    ("POST", "/studies/ID/transition/"): (
        record({"action": one_of("PUBLISH", "PAUSE", "START", "STOP")}),
        STUDY,
    ),
    ("GET", "/studies/ID/cost/"): (None, record({"rewards": COST, "bonuses": COST})),
    ("GET", "/studies/ID/submissions/counts/"): (
        None,
        {"type": "object", "additionalProperties": MINOR, "required": ["TOTAL"]},
    ),
    ("POST", "/study-cost-calculator/"): (
        record({"reward": MINOR, "total_available_places": MINOR}),
        record({"total_cost": MINOR}),
    ),
    ("GET", "/reward-recommendations/"): (
        None,
        array(
            record(
                {
                    "currency": one_of("GBP", "USD"),
                    "min_reward_per_hour": MINOR,
                    "recommended_reward_per_hour": MINOR,
                }
            )
        ),
    ),
    ("GET", "/filters/"): (None, results_of(PLATFORM_FILTER)),
    ("POST", "/eligibility-count/"): (
        record({"filters": array(FILTER), "workspace_id": ID}),
        record({"count": MINOR}),
    ),
    ("GET", "/participant-groups/"): (None, results_of(GROUP)),
    ("POST", "/participant-groups/"): (
        record({"name": TEXT, "workspace_id": ID}, description={"type": "string"}, participant_ids=array(ID)),
        GROUP,
    ),
    ("GET", "/participant-groups/ID/participants/"): (
        None,
        results_of(record({"participant_id": ID, "datetime_created": MOMENT})),
    ),
    ("POST", "/participant-groups/ID/participants/"): (
        PARTICIPANT_IDS,
        results_of(record({"participant_id": ID, "datetime_created": MOMENT})),
    ),
    ("DELETE", "/participant-groups/ID/participants/"): (
        PARTICIPANT_IDS,
        results_of(record({"participant_id": ID, "datetime_created": MOMENT})),
    ),
    ("GET", "/submissions/"): (None, page_of(SUBMISSION_OF_LIST)),
    ("GET", "/submissions/ID/"): (None, SUBMISSION),
    ("POST", "/submissions/ID/transition/"): (SUBMISSION_TRANSITION, SUBMISSION),
    ("POST", "/submissions/ID/request-return/"): (
        record({"request_return_reasons": array(TEXT, minItems=1)}),
        SUBMISSION,
    ),
    ("POST", "/submissions/bulk-approve/"): (
        record({"submission_ids": array(ID, minItems=1, maxItems=MAX_BULK_APPROVALS)}),
        record({"message": TEXT}),
    ),
    ("POST", "/submissions/bonus-payments/"): (record({"study_id": ID, "csv_bonuses": TEXT}), BONUS_SET_UP),
    ("POST", "/bulk-bonus-payments/ID/pay/"): (None, record({"message": TEXT})),
    ("POST", "/messages/"): (record({"recipient_id": ID, "body": TEXT, "study_id": ID}), None),
    ("GET", "/messages/"): (None, results_of(MESSAGE)),
    ("GET", "/hooks/event-types/"): (None, results_of(record({"event_type": TEXT, "description": TEXT}))),
    ("POST", "/hooks/secrets/"): (
        record({"workspace_id": ID}),
        record({"id": ID, "value": TEXT, "workspace_id": ID}),
    ),
    ("GET", "/hooks/subscriptions/"): (None, results_of(SUBSCRIPTION)),
    ("POST", "/hooks/subscriptions/"): (
        record({"workspace_id": ID, "event_type": TEXT, "target_url": TEXT}),
        SUBSCRIPTION,
    ),
    ("POST", "/hooks/subscriptions/ID/"): (record({"secret": TEXT}), SUBSCRIPTION),
    ("PATCH", "/hooks/subscriptions/ID/"): (record({"is_enabled": {"type": "boolean"}}), SUBSCRIPTION),
    ("DELETE", "/hooks/subscriptions/ID/"): (None, None),
    ("GET", "/hooks/subscriptions/ID/events/"): (None, results_of(HOOK_EVENT)),
}
