"""The fine layer: small bumps at the places of `fine.txt`, each smooth, each in the directions that its row names."""

from __future__ import annotations

import numpy as np

from understudy.cast.dragon import coarse_face, coarse_parts
from understudy.cast.dragon.body import Body
from understudy.cast.dragon.controls import Place, fine_places
from understudy.cast.dragon.measures import EYE, eye_frame
from understudy.cast.dragon.places import Places
from understudy.cast.dragon.unfold import unfolded
from understudy.cast.dragon.whole import Whole
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array

ROUNDS = 3  # of smoothing
RIM_SPAN = np.radians(82.0)  # from the middle of the eye's opening to its corner
RIM_RADIUS = 0.172  # HL from the eye's centre to the rim


def shapes(body: Body, places: Places) -> dict[str, Array]:
    """Shape -> (V, 3) deltas of the whole character in HL; sides written out."""
    whole = Whole(body)
    result: dict[str, Array] = {}
    for place in fine_places():
        for name, direction in zip(place.controls, place.directions or ("",)):
            if place.where[0] == "rib" or place.name.startswith(("lids.edge", "tongue")):
                delta = whole.pieces(_on_pieces(body, place, direction))
            else:
                skin = places.smooth(_on_skin(places, place, direction), ROUNDS)
                skin = whole.left(skin) if place.sided else skin
                delta = whole.skin(unfolded(places, skin, (-1.0, 1.0)))
            result |= whole.pair(name, delta) if place.sided else {name: whole.centre(delta, False)}
    return result


def _on_skin(p: Places, place: Place, direction: str) -> Array:
    """(v, 3) both sides of one bump."""
    if place.where[0] == "lip":
        return _on_lip(p, place, direction)
    if place.where[0] == "rim":
        return _on_rim(p, place)
    vertex = int(np.argmin(np.linalg.norm(p.folded - np.array(place.where, float), axis=1) - 0.2 * p.depth))
    weight = p.blob(p.folded[vertex], place.reach) * ramp(-0.03, -0.01, p.depth) * _same_lip(p, p.low[vertex])
    if place.name.partition(".")[0] in ("cheeks", "mouth", "nose", "brows"):
        weight = weight * p.rim(0.25)
    moved = _moved(p, weight * place.height, direction)
    return coarse_face.along_skin(p, moved) if place.name.startswith("brows") and direction != "out" else moved


def _moved(p: Places, weight: Array, direction: str) -> Array:
    if direction == "up":
        return p.push(weight, y=1.0)
    if direction == "in":
        return p.push(weight, x=-1.0)
    return p.smooth(p.normals, 6) * weight[:, None]


def _same_lip(p: Places, low: float) -> Array:
    """(v,) 1 on the lip that the place is on; at the corner both are one."""
    if 0.2 < low < 0.8:
        return np.ones(len(p))
    return p.low if low > 0.5 else 1 - p.low


def _on_lip(p: Places, place: Place, direction: str) -> Array:
    arc = float(place.where[1])
    if direction == "in":
        centre = p.lip_place(arc, True)
        return p.push(p.blob(centre, place.reach) * place.height, x=-1.0, z=0.35)
    upper = "upper" in place.name
    reach = 1.6 * place.reach
    band = p.upper(reach) if upper else p.lower(reach)
    weight = band * ramp(1.0, 0.0, np.abs(p.arc - arc) * p.lip_length / (1.3 * place.reach))
    height = place.height
    if direction == "up":
        return p.lip(weight, up=[(0, height), (1, height)])
    if direction == "out":
        return p.lip(weight, out=[(0, height), (1, height)])
    edge = weight * ramp(0.045, 0.005, np.abs(p.height))
    away = height if upper else -height
    return p.lip(edge, up=[(0, 0.6 * away), (1, 0.6 * away)], out=[(0, height), (1, height)])


def _on_rim(p: Places, place: Place) -> Array:
    """The skin at the eye's opening raised along the eye, not through it."""
    angle = RIM_SPAN * float(place.where[1])
    above = 1.0 if "rim_up" in place.name else -1.0
    toward = np.array([0.80 * np.sin(angle), above * 0.80 * np.cos(angle), 0.60])
    centre = EYE + RIM_RADIUS * toward @ eye_frame()
    vertex = int(np.argmin(np.linalg.norm(p.folded - centre, axis=1)))
    weight = p.blob(p.folded[vertex], place.reach) * ramp(-0.06, -0.02, p.depth) * (1 - p.low)
    return coarse_face.outside_eye(p, p.push(weight * place.height, y=1.0))


def _on_pieces(body: Body, place: Place, direction: str) -> dict[str, Array]:
    """The left pieces (or the tongue) of one bump that is not on the skin."""
    if place.name.startswith("tongue"):
        points = body.points[body.pieces["Tongue"]]
        weight = np.exp(-((points[:, 0] / 0.04) ** 2)) * ramp(0.1, 0.4, body.tongue.along)
        return {"Tongue": (place.height * weight)[:, None] * np.array([0.0, 1.0, 0.0])}
    where = float(place.where[1])
    if place.name.startswith("lids"):
        which = "Upper" if "edge_up" in place.name else "Lower"
        pieces = {f"Lid{which}.L": coarse_parts.edge_shift(body, which, _bump(body.lids[which].a, where, place))}
        if which == "Upper":
            a, beta = coarse_parts.shadow_places(body)
            pieces["LidShadow.L"] = coarse_parts.shadow_shift(a, beta, _bump(a, where, place))
        return pieces
    reach, angle, height, across = coarse_parts.fan(body)
    near, along = np.exp(-(((across - where) / place.reach) ** 2)), body.fin.along
    if direction == "long":
        return {"Fin.L": coarse_parts.unfan(body, reach + place.height * near * along**2, angle, height)}
    swell = near * ramp(0.15, 0.65, along) * (1.0 if where % 1 == 0 else ramp(1.15, 0.75, along))
    return {"Fin.L": coarse_parts.unfan(body, reach, angle, height + place.height * swell)}


def _bump(a: Array, where: float, place: Place) -> Array:
    """(v,) degrees by which the lid's edge is raised along its length."""
    return place.height * np.exp(-(((a - where) / place.reach) ** 2)) * ramp(1.0, 0.9, np.abs(a))
