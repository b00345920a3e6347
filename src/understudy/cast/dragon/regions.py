"""Soft masks of the dragon's regions, named points, and 68 landmarks in the order that face trackers use.

Masks tell how much of a vertex belongs to brows, eyes, nose, mouth, jaw, ears and neck (which carries the rest of the
head); they sum to one. Landmarks are numbered as in the 300-W scheme, from its right to its left: jaw line 0-16, brows
17-26, nose 27-35, eyes 36-47 (on the lids' edges, so that a blink is seen), outer lips 48-59, inner lips 60-67.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast.dragon.body import Body
from understudy.cast.dragon.measures import CORNER, EAR_ROOT
from understudy.cast.dragon.places import BROW, Places
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array

REGIONS = ("brows", "eyes", "nose", "mouth", "jaw", "ears", "neck")
PIECES = {"Lid": "eyes", "Eyeball": "eyes", "Highlight": "eyes", "Fin": "ears", "Tooth": "mouth", "Tongue": "mouth"}
JAW_LINE = (  # the left half in HL, from the chin to the ear
    (0.000, -0.295, 0.480),
    (0.075, -0.285, 0.450),
    (0.145, -0.270, 0.380),
    (0.205, -0.255, 0.280),
    (0.255, -0.240, 0.180),
    (0.300, -0.215, 0.080),
    (0.340, -0.165, 0.000),
    (0.375, -0.090, -0.030),
    (0.385, 0.000, -0.050),
)
BRIDGE = ((0.0, 0.120, 0.320), (0.0, 0.070, 0.390), (0.0, 0.035, 0.450), (0.0, 0.000, 0.530))
NOSTRILS = ((0.0, -0.075, 0.570), (0.060, -0.070, 0.560), (0.120, -0.030, 0.520))
OUTER_LIPS, INNER_LIPS = (0.0, 0.22, 0.55), (0.0, 0.30)  # arcs from the middle outwards
LID_COLUMNS = (-0.95, -0.35, 0.35, 0.95)  # from the inner to the outer corner
OTHER = {".L": ".R", ".R": ".L"}


def masks(body: Body, p: Places) -> dict[str, Array]:
    """Region -> (V,) float32; the regions of a vertex sum to one."""
    outside = ramp(-0.05, -0.02, p.depth)
    skin = {
        "brows": ramp(0.17, 0.05, p.brow_off) * ramp(0.10, 0.18, p.points[:, 1]),
        "eyes": ramp(0.25, 0.175, p.eye) * ramp(0.0, 0.12, p.points[:, 2]),
        "nose": np.minimum(2.5 * p.blob([0.0, -0.005, 0.490], (0.20, 0.15, 0.21)), 1.2) * ramp(0.025, 0.075, p.height),
        "mouth": 1.6 * np.maximum(p.upper(0.10, 0.2), p.lower(0.11, 0.2)) * ramp(1.30, 0.90, p.arc),
        "jaw": np.maximum(p.low * ramp(-0.44, -0.32, p.points[:, 1]), p.blob([0.33, -0.07, 0.06], 0.20)),
        "ears": 1.5 * p.blob(EAR_ROOT, 0.13),
    }
    skin["brows"] = skin["brows"] * outside
    total = sum(skin.values())
    skin["neck"] = np.maximum(1.0 - total, 0.0)
    whole = np.maximum(total, 1.0)
    result = {name: np.zeros(len(body.points), np.float32) for name in REGIONS}
    for name in REGIONS:
        share = p.smooth(skin[name] / whole, 4)
        result[name][body.pieces["Skin"]] = 0.5 * (share + share[p.mirror])
    for piece, place in body.pieces.items():
        if piece != "Skin":
            owner = next((region for start, region in PIECES.items() if piece.startswith(start)), "neck")
            result[owner][place] = 1.0
    return {name: np.clip(mask, 0.0, 1.0) for name, mask in result.items()}


def points(body: Body, p: Places) -> dict[str, int]:
    """Name -> vertex: named points, then `landmark_00` to `landmark_67`."""
    left = _named_left(body, p)
    result = {f"{name}.L": vertex for name, vertex in left.items()}
    result |= {f"{name}.R": int(body.mirror[vertex]) for name, vertex in left.items()}
    result |= _named_middle(body, p)
    return result | {f"landmark_{i:02d}": vertex for i, vertex in enumerate(landmarks(body, p))}


def landmarks(body: Body, p: Places) -> list[int]:
    """The 68 vertices, from the dragon's right to its left."""

    def both_ways(half: list[int]) -> list[int]:
        """From the right end through the middle, which comes first in `half`, to the left end."""
        return [*(int(body.mirror[v]) for v in half[:0:-1]), *half]

    def right(vertices: list[int]) -> list[int]:
        return [int(body.mirror[v]) for v in vertices]

    brow = [_on_skin(p, _along_brow(t)) for t in np.linspace(0.0, 1.0, 5)]
    inner, upper_in, upper_out, outer = _lid_edge(body, "Upper")
    _, lower_in, lower_out, _ = _lid_edge(body, "Lower")
    corner = _on_skin(p, CORNER)
    upper, lower = ([_on_lip(p, arc, 0.022 * s) for arc in OUTER_LIPS] for s in (1, -1))
    upper_edge, lower_edge = ([_on_lip(p, arc, 0.004 * s) for arc in INNER_LIPS] for s in (1, -1))
    corner_edge = _on_lip(p, 0.97, 0.004)
    return [
        *both_ways([_on_skin(p, place) for place in JAW_LINE]),
        *right(brow[::-1]),
        *brow,
        *(_on_skin(p, place) for place in BRIDGE),
        *both_ways([_on_skin(p, place) for place in NOSTRILS]),
        *right([outer, upper_out, upper_in, inner, lower_in, lower_out]),
        *(inner, upper_in, upper_out, outer, lower_out, lower_in),
        *both_ways([*upper, corner]),
        *both_ways(lower)[::-1],
        *both_ways([*upper_edge, corner_edge]),
        *both_ways(lower_edge)[::-1],
    ]


def _named_left(body: Body, p: Places) -> dict[str, int]:
    return {
        "mouth_corner": _on_skin(p, CORNER),
        "brow_inner": _on_skin(p, BROW[0]),
        "brow_mid": _on_skin(p, BROW[1]),
        "brow_outer": _on_skin(p, BROW[2]),
        "cheek": _on_skin(p, (0.37, -0.04, 0.11)),
        "nostril": _on_skin(p, NOSTRILS[2]),
        "jaw_angle": _on_skin(p, (0.30, -0.21, -0.01)),
        "pupil": body.pieces["Eyeball.L"].start,
        "lid_upper": _lid_edge(body, "Upper", (0.0,))[0],
        "lid_lower": _lid_edge(body, "Lower", (0.0,))[0],
        "ear_tip": _furthest(body, "Fin.L", (0.8, 0.4, -0.5)),
        "horn_tip": _furthest(body, "Horn.L", (0.1, 1.0, -0.6)),
        "fang_tip": _furthest(body, "ToothUpper3.L", (0.0, -1.0, 0.0)),
    }


def _named_middle(body: Body, p: Places) -> dict[str, int]:
    return {
        "nose_tip": _on_skin(p, (0.0, -0.045, 0.575)),
        "chin": _on_skin(p, JAW_LINE[0]),
        "head_top": _on_skin(p, (0.0, 0.46, -0.04)),
        "head_back": _on_skin(p, (0.0, 0.10, -0.46)),
        "lip_upper": _on_lip(p, 0.0, 0.012),
        "lip_lower": _on_lip(p, 0.0, -0.012),
        "throat": _on_skin(p, (0.0, -0.45, -0.09)),
        "neck_base": _on_skin(p, (0.0, -0.90, 0.08)),
        "tongue_tip": _furthest(body, "Tongue", (0.0, 0.0, 1.0)),
    }


def _on_skin(p: Places, place: ArrayLike) -> int:
    """The nearest vertex of the outer skin; exactly on the midline where the place is."""
    place = np.asarray(place, float)
    off_line = np.where(p.points[:, 0] == 0, 0.0, 9.0) if place[0] == 0 else 0.0
    inside = np.where(p.depth < -0.012, 9.0, 0.0)
    return int(np.argmin(np.linalg.norm(p.points - place, axis=1) + inside + off_line))


def _on_lip(p: Places, arc: float, height: float) -> int:
    """The left (or midline) vertex at an arc of the mouth's line and a height over it."""
    off_line = np.where(p.points[:, 0] == 0, 0.0, 9.0) if arc == 0 else np.where(p.points[:, 0] > 0, 0.0, 9.0)
    other_lip = np.where((p.low > 0.5) == (height < 0), 0.0, 9.0)
    deep = np.maximum(-0.020 - p.depth, 0.0)
    return int(
        np.argmin(np.abs(p.arc - arc) * p.lip_length + np.abs(p.height - height) + 4 * deep + other_lip + off_line)
    )


def _along_brow(t: float) -> Array:
    return np.array([np.interp(t, [0.0, 0.5, 1.0], BROW[:, axis]) for axis in range(3)])


def _lid_edge(body: Body, which: str, columns: tuple[float, ...] = LID_COLUMNS) -> list[int]:
    """Vertices of the left lid's edge at places -1 (inner corner) to 1."""
    lid, start = body.lids[which], body.pieces[f"Lid{which}.L"].start
    on_edge = np.flatnonzero((lid.share == 1.0) & (lid.radius == lid.radius.max()))
    return [start + int(on_edge[np.argmin(np.abs(lid.a[on_edge] - a))]) for a in columns]


def _furthest(body: Body, piece: str, way: ArrayLike) -> int:
    place = body.pieces[piece]
    return place.start + int(np.argmax(body.points[place] @ np.asarray(way, float)))
