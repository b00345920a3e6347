"""Coarse shapes of the separate parts: lids, eyeballs, fins, spikes and tongue.

Each is made for one amount of its control (EDGE, RIB, ...); `drives.txt` scales it. Lids are moved along
tangents of their spheres, which errs outwards, away from the eye.
"""

from __future__ import annotations

import numpy as np

from understudy.cast.dragon import eyes, fins, lids
from understudy.cast.dragon.body import Body
from understudy.cast.dragon.measures import EAR_ROOT, EYE, EYE_RADIUS, eye_frame
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array

EDGE = 20.0  # degrees of the lids' tilt and curve shapes
RIB = 25.0  # degrees of the ribs' shapes
PUPIL, IRIS = 0.4, 0.15  # by how much those shapes enlarge
SPIKE = 28.0  # degrees that a spike is raised
Pieces = dict[str, Array]  # piece -> (v, 3) deltas in HL


def shapes(body: Body) -> dict[str, Pieces]:
    """Name without side -> the left pieces (or those of the midline) that it moves."""
    return {**_lids(body), **_eyeballs(body), **_fins(body), **_spikes(body), **_tongue(body)}


def edge_shift(body: Body, which: str, degrees: Array) -> Array:
    """(v, 3) a lid whose edge is turned by `degrees` (v,) about the corner axis, hidden end and corners at rest."""
    lid = body.lids[which]
    along = np.radians(lids.SPAN * lid.a)
    return _turned(along, np.radians(lid.beta), lid.radius) * (np.radians(degrees) * lid.share)[:, None]


def shadow_shift(a: Array, beta: Array, degrees: Array) -> Array:
    """(v, 3) the same for the shadow under the upper lid, at places a and beta (v,)."""
    height = np.full(len(a), eyes.SHADOW_HEIGHT)
    return _turned(np.radians(lids.SPAN * a), np.radians(beta), height) * np.radians(degrees)[:, None]


def shadow_places(body: Body) -> tuple[Array, Array]:
    """(v,) a and beta, in degrees, of the left shadow's vertices."""
    local = (body.points[body.pieces["LidShadow.L"]] - EYE) @ eye_frame().T / (EYE_RADIUS * eyes.SHADOW_HEIGHT)
    return (
        np.degrees(np.arcsin(np.clip(local[:, 0], -1, 1))) / lids.SPAN,
        np.degrees(np.arctan2(local[:, 1], local[:, 2])),
    )


def _turned(along: Array, beta: Array, radius: Array) -> Array:
    """(v, 3) derivative of places on the lid by beta."""
    way = np.stack([0 * beta, np.cos(along) * np.cos(beta), -np.cos(along) * np.sin(beta)], axis=1)
    return EYE_RADIUS * radius[:, None] * way @ eye_frame()


def _lids(body: Body) -> dict[str, Pieces]:
    a, beta = shadow_places(body)
    result = {}
    for name, which, power in (
        ("lids.tilt", "Upper", 1),
        ("lids.curve", "Upper", 2),
        ("lids.lower_tilt", "Lower", 1),
        ("lids.lower_curve", "Lower", 2),
    ):
        pieces = {f"Lid{which}.L": edge_shift(body, which, EDGE * body.lids[which].a ** power)}
        if which == "Upper":
            pieces["LidShadow.L"] = shadow_shift(a, beta, EDGE * a**power)
        result[name] = pieces
    return result


def _eyeballs(body: Body) -> dict[str, Pieces]:
    ball = body.eyeball

    def grown(**sizes: float) -> Array:
        """Half of the way from the smaller to the larger eye: exact slope on both sides."""
        more = eyes.on_eye(ball.ring, ball.azimuth, **sizes)
        less = eyes.on_eye(ball.ring, ball.azimuth, **{name: 2 - size for name, size in sizes.items()})
        return EYE_RADIUS * 0.5 * (more - less) @ ball.axes

    return {
        "eyes.pupil": {"Eyeball.L": grown(pupil=1 + PUPIL)},
        "eyes.iris": {"Eyeball.L": grown(iris=1 + IRIS, pupil=1 + 0.6 * IRIS)},
    }


def fan(body: Body) -> tuple[Array, Array, Array, Array]:
    """The left fin in its own plane, (v,) each: distance from the root, radians, height over the plane, rib number."""
    local = (body.points[body.pieces["Fin.L"]] - EAR_ROOT) @ body.fin.axes.T
    return np.hypot(local[:, 0], local[:, 1]), np.arctan2(local[:, 1], local[:, 0]), local[:, 2], body.fin.across


def unfan(body: Body, reach: Array, angle: Array, height: Array) -> Array:
    """(v, 3) deltas of the left fin for new places in its plane."""
    local = np.stack([reach * np.cos(angle), reach * np.sin(angle), height], axis=1)
    return EAR_ROOT + local @ body.fin.axes - body.points[body.pieces["Fin.L"]]


def _fins(body: Body) -> dict[str, Pieces]:
    reach, angle, height, across = fan(body)
    along = body.fin.along
    middle = np.radians(12.0)
    pleat = np.cos(2 * np.pi * across)
    folded = unfan(
        body,
        reach * (1 - 0.06 * along),
        middle + (angle - middle) * (1 - 0.72 * ramp(0.0, 0.15, along)),
        height + 0.020 * pleat * ramp(0.0, 0.5, along),
    )
    spread = unfan(body, reach * (1 + 0.10 * along), middle + (angle - middle) * 1.40, height)
    cup = unfan(body, reach, angle, height + 0.14 * along**2 * (0.25 + ((across - 1.5) / 1.5) ** 2))
    result = {"ears.fold": {"Fin.L": folded}, "ears.spread": {"Fin.L": spread}, "ears.cup": {"Fin.L": cup}}
    for rib in range(len(fins.RIBS)):
        near = ramp(1.0, 0.0, np.abs(across - rib)) * ramp(0.0, 0.35, along)
        result[f"ears.rib{rib + 1}"] = {"Fin.L": unfan(body, reach, angle + np.radians(RIB) * near, height)}
    return result


def _spikes(body: Body) -> dict[str, Pieces]:
    result: dict[str, Pieces] = {f"neck.{place}_spikes": {} for place in ("crown", "nape", "neck")}
    turn = np.radians(SPIKE)
    for spike in body.spikes:
        y, z = (spike.patch.vertices - spike.base).T[1:]
        # leaning backwards is a turn about x with the sign of (outwards x back); raising undoes it
        tip = spike.patch.vertices[np.argmax((spike.patch.vertices - spike.base) @ spike.outwards)] - spike.base
        lean = np.sign(spike.outwards[1] * tip[2] - spike.outwards[2] * tip[1])
        s, c = np.sin(-lean * turn), np.cos(turn)
        grow = 1.12
        moved = np.stack([0 * y, grow * (c * y - s * z) - y, grow * (s * y + c * z) - z], axis=1)
        result[f"neck.{spike.place}_spikes"][spike.patch.name] = moved
    return result


def _tongue(body: Body) -> dict[str, Pieces]:
    points = body.points[body.pieces["Tongue"]]
    along = ramp(0.05, 0.35, body.tongue.along)
    middle = np.interp(points[:, 2], *_spine(body))
    wide = np.stack([0.30 * points[:, 0] * along, -0.35 * (points[:, 1] - middle) * along, 0 * along], axis=1)
    return {"tongue.wide": {"Tongue": wide}}


def _spine(body: Body) -> tuple[Array, Array]:
    """z and y of the tongue's middle line, from root to tip."""
    points, along = body.points[body.pieces["Tongue"]], body.tongue.along
    stations = np.unique(along)
    rings = [points[along == station].mean(axis=0) for station in stations]
    line = np.array(rings)
    order = np.argsort(line[:, 2])
    return line[order, 2], line[order, 1]
