"""What participants of a study cost: from its newest campaign, else nothing yet."""

from typing import Any

from analysis.effects.power_report import Price
from experiments.models import Experiment
from experiments.money import digits, written

FEES = {"direct": 0.0, "prolific": 33.3, "mturk": 20.0}
"""Percent of the reward, where the platform says nothing else; on the page it can be changed."""
ELSEWHERE = 0.0


def price_fields(study: Experiment) -> dict[str, Any]:
    """Reward, currency and fee as the form's first values."""
    campaign = study.campaigns.exclude(reward_minor=0).order_by("-created_at", "-pk").first()
    if campaign is None:
        return {"reward": "", "currency": "GBP", "fee": ELSEWHERE}
    amount = written(campaign.reward_minor, campaign.currency).split()[0]
    return {
        "reward": amount,
        "currency": campaign.currency,
        "fee": FEES.get(campaign.recruiter, ELSEWHERE),
    }


def price_of(study: Experiment) -> tuple[Price, str]:
    """The price of one participant and its currency."""
    fields = price_fields(study)
    campaign = study.campaigns.exclude(reward_minor=0).order_by("-created_at", "-pk").first()
    reward = campaign.reward_minor if campaign else 0
    return Price(reward, fields["fee"] / 100), fields["currency"]


def costed(rows: list[dict[str, Any]], currency: str) -> list[dict[str, Any]]:
    """Rows with their cost in words; empty where nothing is paid."""
    return [
        {**row, "cost": written(row["cost_minor"], currency) if row["cost_minor"] else ""} for row in rows
    ]


def per_hour(reward_minor: int, minutes: int, currency: str) -> str:
    """The pay of an hour, in words."""
    if not reward_minor or not minutes:
        return ""
    hourly = round(reward_minor * 60 / minutes)
    return written(hourly, currency) if digits(currency) or hourly else ""
