"""Signals of browser events: page left, text pasted, hidden field filled in, scripted answers."""

import numpy as np
import pandas as pd

from .base import Signal, any_mark, column_numbers, session_codes, signal_frame

MIN_AWAY_MS = 1000  # shorter absences are window switches
MIN_TRIALS = 3
MAX_AWAY_SHARE = 0.2  # of the trials


def focus(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions that left the page for a second or more in at least a fifth of their trials.

    Notes
    -----
    At least three trials are required, because phones lock and messages arrive.
    """
    session, labels = session_codes(judgments)
    sources = np.vstack([column_numbers(judgments, name) for name in ("focus_lost_ms", "page_hidden_ms")])
    recorded = ~np.isnan(sources).all(axis=0)
    away = np.nan_to_num(sources).max(axis=0)
    n = np.bincount(session[recorded], minlength=len(labels))
    left = np.bincount(session[recorded & (away >= MIN_AWAY_MS)], minlength=len(labels))
    total_s = np.bincount(session[recorded], weights=away[recorded], minlength=len(labels)) / 1000  # ms to s
    share = left / np.maximum(n, 1)
    return signal_frame(
        labels,
        share,
        has_data=n > 0,
        flagged=(share >= MAX_AWAY_SHARE) & (left >= MIN_TRIALS),
        reason=lambda row: (
            f"the page was left in {left[row]} of {n[row]} trials, {total_s[row]:.0f} s in all"
        ),
    )


FOCUS = Signal("focus", 1, "page left often", focus)


def paste(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with pasted answers."""
    return any_mark(judgments, "pasted", lambda marked, n: f"{marked} of {n} answers were pasted, not typed")


PASTE = Signal("paste", 1, "answers pasted", paste)


def honeypot(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with a value in the hidden field of the questionnaire."""
    return any_mark(
        judgments,
        "honeypot",
        lambda marked, n: "a hidden field was filled in; browsers with automatic form filling do so too",
    )


HONEYPOT = Signal("honeypot", 1, "hidden field filled in", honeypot)


def flag_untrusted(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with answers from scripted browser events.

    Notes
    -----
    Assistive technology may also produce scripted events: review the session before a decision.
    """
    return any_mark(
        judgments,
        "is_trusted",
        lambda marked, n: f"{marked} of {n} answers were given by a program; assistive technology may do so",
        meaning=0,
    )


UNTRUSTED = Signal("untrusted", 1, "answers given by a program", flag_untrusted)


def plain_form(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with answers by the plain form, which has no response times."""
    reason = "{} of {} answers came by the plain form, without a response time"
    return any_mark(judgments, "by_plain_form", reason.format)


PLAIN_FORM = Signal("plain_form", 1, "answers by the plain form", plain_form)


def storage(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions in which the browser's storage failed or did not respond in time."""
    return any_mark(
        judgments,
        "storage_failed",
        lambda marked, n: "the browser's storage failed or did not respond in time",
    )


STORAGE = Signal("storage", 1, "browser storage failed", storage)


def missing_glyphs(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions on a device without glyphs for signs of a stimulus."""
    reason = "in {} of {} trials the device had no glyph for a sign of the stimulus"
    return any_mark(judgments, "has_missing_glyphs", reason.format)


MISSING_GLYPHS = Signal("missing_glyphs", 1, "signs missing from the device's fonts", missing_glyphs)


def coarse_time(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with a coarse clock or late painting, whose response times are inexact."""
    reason = "in {} of {} trials the clock was coarse or the trial was painted late"
    return any_mark(judgments, "has_coarse_time", reason.format)


COARSE_TIME = Signal("coarse_time", 1, "response times inexact on this device", coarse_time)
