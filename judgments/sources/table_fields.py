"""The columns a long table of judgments may have, and the other names under which they are known."""

from experiments.materials.schema import Field

_FIELDS = (
    Field(
        "participant",
        "Pseudonym or platform id of the participant.",
        (
            "participant_id",
            "participantid",
            "subject",
            "subject_id",
            "worker",
            "workerid",
            "worker_id",
            "anoncode",
            "rater",
        ),
    ),
    Field("session", "One sitting; without it, the participant with the list.", ("session_id", "submission")),
    Field("list", "Presentation list.", ("survey", "list_id")),
    Field(
        "position",
        "Place of the trial in its session; without it, the order of the rows.",
        (
            "order",
            "presentationorder",
            "presentation_order",
            "trial_order",
            "trial_sequence_total",
            "trial_index",
        ),
    ),
    Field("kind", "target, filler, catch, practice or anchor.", ("item_type", "trial_kind")),
    Field("task", "Name of the task; one per file."),
    Field("item", "One lexicalization.", ("item_id", "itemid", "item_number")),
    Field("condition", "Cell of the design.", ("cond",)),
    Field(
        "sentence_id",
        "Name of the sentence; in forced choice, of the chosen one.",
        ("sent_id", "stimulus_id"),
    ),
    Field("sentence", "Text of the sentence.", ("text", "sentence_text", "stimulus")),
    Field(
        "expected",
        "The author's intended status.",
        ("acceptability", "acceptable", "grammatical", "grammaticality"),
    ),
    Field("paradigm", "Group of items of one contrast.", ("uid",)),
    Field("phenomenon", "Group of paradigms.", ("linguistics_term",)),
    Field("pair_id", "The minimal pair (forced choice).", ("pairid",)),
    Field("good", "Text of the acceptable member (forced choice).", ("sentence_good", "good_sentence")),
    Field("bad", "Text of the unacceptable member (forced choice).", ("sentence_bad", "bad_sentence")),
    Field("good_id", "sentence_id of the acceptable member (forced choice)."),
    Field("bad_id", "sentence_id of the unacceptable member (forced choice)."),
    Field("shown_first", "sentence_id of the member shown first (forced choice)."),
    Field("expected_first", "Whether the acceptable member was shown first (forced choice)."),
    Field(
        "value",
        "The answer on the scale; forced choice: 1 good member, 0 the other.",
        ("judgment", "judgement", "rating", "raw_judgment"),
    ),
    Field("response", "The answer as given; read as the value where there is no value."),
    Field("correct", "Whether a catch or practice trial was answered as intended."),
    Field("rt_ms", "From onset to answer, in ms.", ("rt", "reaction_time", "reaction_time_ms")),
    Field("modulus", "Number given to the reference sentence (magnitude estimation)."),
    Field(
        "native",
        "Whether the participant is a native speaker.",
        ("nativeenglish", "native_english", "is_native", "native_speaker"),
    ),
    Field("submission_status", "Decision of the platform: approved, rejected, ….", ("assignmentstatus",)),
    Field("session_status", "State of the session: complete, abandoned, …."),
)
TABLE_FIELDS: dict[str, Field] = {field.name: field for field in _FIELDS}
