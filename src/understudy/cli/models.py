"""The facts of a model, for people and for JSON."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.posespace import Model


def facts(model: Model) -> dict[str, Any]:
    """The facts of a model, ready for JSON."""
    rows = []
    for label, space in model.spaces.items():
        own = [pair for pair in model.bridges if label in (pair.first, pair.second)]
        rows.append(
            {
                "label": label,
                "clips": [segment.clip for segment in space.segments],
                "frames": len(space),
                "seconds": round(len(space) / space.rate, 3),
                "dimensions": int(space.mapping.outputs),
                "bridges": sum(len(pair) for pair in own if not pair.wide),
                "nearest_gap": round(min((float(pair.gaps.min()) for pair in own), default=0.0), 6),
            }
        )
    return {
        "labels": rows,
        "rate": model.rate,
        "latent_dimensions": int(next(iter(model.spaces.values())).mapping.dimensions),
        "features": len(model.encoder.names),
        "poses": list(model.poses),
        "routes": _routes(model),
        "notes": list(model.notes),
    }


def table(row: dict[str, Any]) -> list[str]:
    """The lines of a model's table: its labels, then what can be reached from where."""
    width = max([5, *(len(each["label"]) for each in row["labels"])])
    lines = [f"  {'label':<{width}}  frames  clips  seconds  dims  bridges"]
    for each in row["labels"]:
        lines.append(
            f"  {each['label']:<{width}}  {each['frames']:6d}  {len(each['clips']):5d}  {each['seconds']:7.1f}"
            f"  {each['dimensions']:4d}  {each['bridges']:7d}"
        )
    found = row["routes"]
    if len(row["labels"]) > 1:
        direct, over, wide = found["direct"], found["over_others"], len(found["wide"])
        lines.append(f"  ways between labels: {direct} direct, {over} over other labels, {wide} without a near pose")
    if found["wide"]:
        pairs = ", ".join(f"{a}-{b}" for a, b in found["wide"][:6])
        more = f" and {wide - 6} more" if wide > 6 else ""
        lines.append(f"  without a near pose, so that the change is seen: {pairs}{more}")
    return lines


def _routes(model: Model) -> dict[str, Any]:
    """How many pairs of labels have a bridge of their own, how many go over others, and which have to leap."""
    routes = {(a, b): model.route(a, b) for a, b in itertools.combinations(model.labels, 2)}
    wide = [list(pair) for pair, route in routes.items() if any(bridges.wide for bridges in route)]
    direct = sum(len(route) == 1 and not route[0].wide for route in routes.values())
    return {"direct": direct, "over_others": len(routes) - direct - len(wide), "wide": wide}
