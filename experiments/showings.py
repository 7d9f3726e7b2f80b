"""Which stored lists show an item, and how often each: as a pair, a sentence, or a member of sets."""

from collections.abc import Collection

from experiments.models import PlannedTrial, Sentence, TrialKind


def showings_of(lists: Collection[int]) -> dict[int, dict[int, int]]:
    """For each item among the targets of these lists, the lists that show it and how often."""
    shown: dict[int, dict[int, int]] = {}
    targets = PlannedTrial.objects.filter(list__in=lists, kind=TrialKind.TARGET).order_by()
    for item, one in targets.filter(item__isnull=False).values_list("item", "list").iterator():
        _count(shown, item, one)
    sets = list(targets.filter(item__isnull=True).values_list("payload", "list"))
    members = {pk for payload, _ in sets for pk in payload.get("sentences", ())}
    items = dict(Sentence.objects.filter(pk__in=members).values_list("pk", "item")) if members else {}
    for payload, one in sets:
        for pk in payload.get("sentences", ()):
            _count(shown, items[pk], one)
    return shown


def _count(shown: dict[int, dict[int, int]], item: int, one: int) -> None:
    times = shown.setdefault(item, {})
    times[one] = times.get(one, 0) + 1
