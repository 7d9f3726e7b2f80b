"""A small set of minimal pairs with the traps of published ones: identical members, conflicting labels."""

import json

N_CLEAN, N_IDENTICAL, N_CONFLICTING = 20, 3, 2


def trap_pairs():
    """Good and bad sentence of each pair: clean ones, identical ones, and ones that contradict each other."""
    pairs = [(f"Les clés {n} sont là.", f"Les clés {n} est là.") for n in range(N_CLEAN)]
    pairs += [(f"Elle part {n}.", f"Elle part {n}.") for n in range(N_IDENTICAL)]
    for n in range(N_CONFLICTING):
        pairs += [(f"Il y va {n}.", f"Il va y {n}."), (f"Il va y {n}.", f"Il vas y {n}.")]
    return pairs


def trap_lines():
    """The pairs as JSON lines."""
    return "".join(
        json.dumps(
            {"sentence_good": good, "sentence_bad": bad, "UID": "accord", "pairID": str(number)},
            ensure_ascii=False,
        )
        + "\n"
        for number, (good, bad) in enumerate(trap_pairs(), start=1)
    )


def trap_judgments():
    """One answer to each pair, as a table."""
    rows = [
        f'p{number % 3},{number},"{good}","{bad}",1'
        for number, (good, bad) in enumerate(trap_pairs(), start=1)
    ]
    return "\n".join(["participant,pair_id,good,bad,value", *rows]) + "\n"
