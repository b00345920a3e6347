"""What would make a blocked edit reach its goal, computed when asked for, and each verified by solving it.

    for offer in offers(rig, curves, edit, outcome):
        print(offer.sentence)                        # "without the pin of 'foot.L' it is reached"
    session.put(offers(...)[0].outcome.curves)

There are three kinds: `release` one pin, contact or hold; `widen` the handles, by letting tangents break at the ends of
the segment, by taking in the time of the move, or by lifting a limit as far as is needed; and `insert` keys at the time
of the drag, as few as reach the goal (`key_offers`). An offer that brings nothing is not made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from understudy.character import Curves
from understudy.errors import InvalidInput
from understudy.keyframes.blocked import called
from understudy.keyframes.goals import Edit, Limit
from understudy.keyframes.key_offers import inserted
from understudy.keyframes.offer import Offer, left, result
from understudy.keyframes.outcome import Outcome
from understudy.keyframes.problem import Constraint, limits_of
from understudy.keyframes.solve import PATIENT, Settings, solve
from understudy.rig import PosedRig

KINDS = ("release", "widen", "insert")
WORTH = 0.9  # of the way that remained: an offer that leaves more of it is not worth making


def offers(
    rig: PosedRig,
    curves: Curves,
    edit: Edit,
    outcome: Outcome | None = None,
    kinds: Sequence[str] = KINDS,
    settings: Settings | None = None,
) -> tuple[Offer, ...]:
    """The best offer of each kind for an edit of `curves` that came to `outcome`; none where it was reached."""
    for kind in kinds:
        if kind not in KINDS:
            raise InvalidInput(f"offers are of the kinds {', '.join(KINDS)}, but {kind!r} is asked for")
    settings = settings or PATIENT
    outcome = solve(rig, curves, edit, settings) if outcome is None else outcome
    if outcome.reached:
        return ()
    made: list[Offer | None] = []
    if "release" in kinds:
        made.append(best(outcome, _released(rig, curves, edit, settings)))
    if "widen" in kinds:
        made.append(best(outcome, _widened(rig, curves, edit, outcome, settings)))
    if "insert" in kinds:
        made.append(inserted(rig, curves, edit, outcome, settings))
    return tuple(offer for offer in made if offer is not None)


def best(before: Outcome, found: Iterable[Offer]) -> Offer | None:
    """The offer that gets furthest, the first of equals; None where none is worth it."""
    ordered = sorted(found, key=lambda offer: (not offer.outcome.reached, left(offer.outcome)))
    worth = [offer for offer in ordered if offer.outcome.reached or left(offer.outcome) < WORTH * left(before)]
    return worth[0] if worth else None


def _released(rig: PosedRig, curves: Curves, edit: Edit, settings: Settings) -> Iterable[Offer]:
    """The edit without each of the things that are held."""
    held: list[Constraint] = [*edit.pins, *edit.contacts, *edit.holds]
    for goal in held:
        less = (
            replace(
                edit,
                pins=tuple(pin for pin in edit.pins if pin is not goal),
                contacts=tuple(contact for contact in edit.contacts if contact is not goal),
                holds=tuple(hold for hold in edit.holds if hold is not goal),
            )
            if edit.moves or edit.wishes or len(edit.contacts) > 1 or goal not in edit.contacts
            else None
        )
        if less is None:
            continue
        outcome = solve(rig, curves, less, settings)
        said = f"without {called(goal)} {result(outcome)}"
        yield Offer("release", (goal.point.name,), said, less, outcome)


def _widened(rig: PosedRig, curves: Curves, edit: Edit, outcome: Outcome, settings: Settings) -> Iterable[Offer]:
    """The edit with more room for the tangents, the smallest change first."""
    for what, words, wider in (*_ranges(curves, edit), *_lifted(rig, curves, edit, outcome, settings)):
        found = solve(rig, curves, wider, settings)
        yield Offer("widen", what, f"{words} {result(found)}", wider, found)


def _ranges(curves: Curves, edit: Edit) -> Iterable[tuple[tuple[str, ...], str, Edit]]:
    times = [move.time for move in edit.moves]
    low, high = edit.start, edit.stop
    outside = [t for t in times if (low is not None and t < low) or (high is not None and t > high)]
    if outside:
        start = min(t for t in (*outside, curves.end if low is None else low))
        stop = max(t for t in (*outside, curves.start if high is None else high))
        wider = replace(edit, start=start, stop=stop) if start < stop else replace(edit, start=None, stop=None)
        yield ("range",), f"with the tangents around {outside[0]:.4g} s free as well", wider
    if edit.edges == "smooth":
        loose = replace(edit, edges="broken")
        yield ("edges",), "with tangents that may break at the ends of the segment", loose


def _lifted(
    rig: PosedRig, curves: Curves, edit: Edit, outcome: Outcome, settings: Settings
) -> Iterable[tuple[tuple[str, ...], str, Edit]]:
    """Each limit that blocks, and all of them, as wide as the edit needs them."""
    columns = [next(iter(limits_of(curves.channels, [limit]))) for limit in edit.limits]
    names = [curves.channels.names[column] for column in columns]
    blocking = [i for i, name in enumerate(names) if any(b.kind == "limit" and b.what == name for b in outcome.blocks)]
    groups = [[i] for i in blocking] + ([blocking] if len(blocking) > 1 else [])
    for group in groups:
        free = replace(edit, limits=tuple(limit for i, limit in enumerate(edit.limits) if i not in group))
        values = solve(rig, curves, free, settings).curves.sample(np.linspace(curves.start, curves.end, 400))
        limits, said = list(edit.limits), []
        for i in group:
            own = values[:, columns[i]]
            # Bounds of handles keep a column inside its limits by up to a third of the room that its keys leave
            # [Ciccone 2019, eq. 9], so that a little more than what was used has to be asked for.
            keys = curves.sample(curves.curves[_owner(curves, columns[i])].times)[:, columns[i]]
            low = min(limits[i].low, keys.min() - 4 / 3 * max(keys.min() - own.min(), 0))
            high = max(limits[i].high, keys.max() + 4 / 3 * max(own.max() - keys.max(), 0))
            side = f"up to {_shown(names[i], high)}" if high > limits[i].high else f"down to {_shown(names[i], low)}"
            limits[i] = Limit(limits[i].target, limits[i].column, float(low), float(high))
            said.append(f"{names[i]!r} {side}")
        wider = replace(edit, limits=tuple(limits))
        yield tuple(names[i] for i in group), f"with {' and '.join(said)}", wider


def _owner(curves: Curves, column: int) -> int:
    return int(np.searchsorted(curves.channels.offsets, column, side="right") - 1)


def _shown(name: str, value: float) -> str:
    return f"{np.degrees(value):.4g} degrees" if ".euler." in name else f"{value:.4g}"
