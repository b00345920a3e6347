"""Curves as USD's own splines (Ts), one attribute a column, beside the animation that was baked from them.

UsdSkel plays time samples only. So that keyframes survive, a SkelAnimation carries a custom double attribute for each
column of each curve that samples do not hold (`understudy:curve:Hips_rotation_x`), with a Bezier spline on it: times in
time codes, tangents as width and slope. The channel of a spline is kept in its customData, since names in USD are
identifiers. `AVAILABLE` says whether the installed usd-core has splines.

On reading, splines replace the samples that were baked from them, but only where they pass through the samples: where
another program has changed one and not the other, the samples are kept.

`PrimNames` makes names that USD accepts: prim and joint names are identifiers, so others are changed and the original
is kept as display name.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from pxr import Sdf, Tf, Ts, Usd

from understudy.character import Channel, Curve
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.checks import Array
from understudy.formats.usd.context import MAX_TIME_CODE, ReadContext, UnitFrame
from understudy.maths import euler, quaternion

AVAILABLE = hasattr(Usd.Attribute, "SetSpline") and hasattr(Ts, "Knot")
ATTRIBUTE_PREFIX = "understudy:curve"
# A tangent of Ts is a slope over a width: a vertical one gets this share of its segment as width, and the curve changes
# by as much.
MIN_HANDLE_WIDTH_RATIO = 1e-6

# Radians, or a ratio of the value. Samples are float32, which leaves 1e-7; scales are sometimes half floats.
SPLINE_TOLERANCE = 1e-5


class PrimNames:
    """The names used so far below one prim, so that the next one is new."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._copies: dict[str, int] = {}

    def new(self, name: str) -> str:
        """A valid identifier like `name` that was not given out before."""
        base = candidate = str(Tf.MakeValidIdentifier(name or "unnamed"))
        while candidate in self._used:
            self._copies[base] = self._copies.get(base, 1) + 1
            candidate = f"{base}_{self._copies[base]}"
        self._used.add(candidate)
        return candidate


def set_display_name(prim: Usd.Prim, name: str) -> None:
    """Keep the original name as display name, where the path could not hold it."""
    if name and prim.GetName() != name:
        prim.SetDisplayName(name)


def is_bent(curve: Curve) -> bool:
    """Whether time samples at the keys do not hold the curve, so that it is baked and kept as a spline."""
    held = curve.extrapolation == ("hold", "hold")
    return curve.channel.kind == "euler" or not held or bool((curve.segments == BEZIER).any())


def author_splines(prim: Usd.Prim, curves: Iterable[Curve], rate: float) -> None:
    """Write a spline for each column of each curve."""
    names = PrimNames()
    for count, curve in enumerate(curves):
        channel = curve.channel
        for number, column in enumerate(channel.columns):
            name = names.new(f"{channel.target}_{channel.kind}_{column}")
            attribute = prim.CreateAttribute(f"{ATTRIBUTE_PREFIX}:{name}", Sdf.ValueTypeNames.Double, custom=True)
            attribute.SetSpline(_spline(curve, number, rate))
            for key, value in (("target", channel.target), ("kind", channel.kind), ("column", column)):
                attribute.SetCustomDataByKey(f"understudy:{key}", value)
            attribute.SetCustomDataByKey("understudy:place", number)
            attribute.SetCustomDataByKey("understudy:curve", count)


def _spline(curve: Curve, column: int, rate: float) -> Ts.Spline:
    kinds = {STEP: Ts.InterpHeld, LINEAR: Ts.InterpLinear, BEZIER: Ts.InterpCurve}
    gaps = np.diff(curve.times, prepend=np.nan, append=np.nan) * rate
    (pre_width, pre_slope), (post_width, post_slope) = (
        _tangents(handles[:, column], lengths, rate)
        for handles, lengths in ((curve.before, gaps[:-1]), (curve.after, gaps[1:]))
    )
    times, values, segments = curve.times * rate, curve.values[:, column], [*curve.segments.tolist(), BEZIER]
    spline = Ts.Spline("double")
    with Ts.AntiRegressionAuthoringSelector(Ts.AntiRegressionNone):  # our curves never run backwards in time
        for k in range(len(times)):
            knot = Ts.Knot(
                "double",
                time=float(times[k]),
                value=float(values[k]),
                nextInterp=kinds[segments[k]],
                preTanWidth=float(pre_width[k]),
                preTanSlope=float(pre_slope[k]),
                postTanWidth=float(post_width[k]),
                postTanSlope=float(post_slope[k]),
            )
            spline.SetKnot(knot)
    modes = {
        "hold": Ts.ExtrapHeld,
        "linear": Ts.ExtrapLinear,
        "cycle": Ts.ExtrapLoopReset,
        "cycle_offset": Ts.ExtrapLoopRepeat,
    }
    spline.SetPreExtrapolation(Ts.Extrapolation(modes[curve.extrapolation[0]]))
    spline.SetPostExtrapolation(Ts.Extrapolation(modes[curve.extrapolation[1]]))
    return spline


def _tangents(handles: Array, lengths: Array, rate: float) -> tuple[Array, Array]:
    """Widths in time codes and slopes in value a time code (K,) of handles (K, 2)."""
    width, rise = np.maximum(handles[:, 0], 0.0) * rate, handles[:, 1]
    narrow = (width < MIN_HANDLE_WIDTH_RATIO * lengths) & (rise != 0)
    width = np.where(narrow, MIN_HANDLE_WIDTH_RATIO * lengths, width)
    return width, np.where(width > 0, rise / np.where(width > 0, width, 1.0), 0.0)


def keep_splines(reading: ReadContext, prim: Usd.Prim, baked: list[Curve]) -> list[Curve]:
    """The curves of a SkelAnimation, with each spline that agrees with the baked curves in their place."""
    splines = load_splines(reading, prim)
    if splines and reading.frame != UnitFrame():
        reading.note("splines beside animations are in metres with Y up, which the file is not, and were left out")
        return baked
    for spline in splines:
        weights = spline.channel.kind == "weights"
        replaced = _replace_weight_columns(baked, spline) if weights else _replace_joint_curve(baked, spline)
        if replaced is None:
            name = f"{spline.channel.target}.{spline.channel.kind}"
            reading.note("splines that do not pass through the samples beside them were left out: {}", name)
        else:
            baked = replaced
    return baked


def load_splines(reading: ReadContext, prim: Usd.Prim) -> list[Curve]:
    """The curves that a SkelAnimation carries as splines; those that our writer did not make are noted and left out."""
    if not AVAILABLE:
        return []
    by_channel: dict[tuple[int, str, str], dict[int, tuple[str, Usd.Attribute]]] = {}
    for attribute in prim.GetPropertiesInNamespace(ATTRIBUTE_PREFIX):
        if isinstance(attribute, Usd.Attribute) and attribute.HasSpline():
            target, kind, column, place, number = (
                attribute.GetCustomDataByKey(f"understudy:{key}")
                for key in ("target", "kind", "column", "place", "curve")
            )
            words, numbers = (target, kind, column), (place, number)
            if all(isinstance(word, str) for word in words) and all(isinstance(count, int) for count in numbers):
                by_channel.setdefault((number, target, kind), {})[place] = (column, attribute)
    curves = []
    for (_, target, kind), columns in sorted(by_channel.items()):
        try:
            channel = Channel(target, kind, tuple(columns[place][0] for place in sorted(columns)))
            curves.append(_curve(reading, channel, [columns[place][1] for place in sorted(columns)]))
        except (ValueError, KeyError):  # columns missing, or apart in time, or longer than their segments
            reading.note("splines that are no longer as understudy wrote them were left out: {}", f"{target}.{kind}")
    return curves


def _curve(reading: ReadContext, channel: Channel, attributes: list[Usd.Attribute]) -> Curve:
    """One curve from the splines of its columns; `ValueError` or `KeyError` where these do not make one."""
    splines = [attribute.GetSpline() for attribute in attributes]
    knots = []
    for attribute, spline in zip(attributes, splines):
        if spline.GetValueTypeName() != "double" or spline.GetCurveType() != Ts.CurveTypeBezier:
            raise ValueError
        column_knots = list(spline.GetKnots().values())
        reading.take(attribute.GetPrim(), 6 * len(column_knots))
        knots.append(column_knots)
    kinds = {Ts.InterpHeld: STEP, Ts.InterpLinear: LINEAR, Ts.InterpCurve: BEZIER}
    times = np.array([[knot.GetTime() for knot in column] for column in knots])  # ragged: ValueError
    segments = np.array([[kinds[knot.GetNextInterpolation()] for knot in column] for column in knots])
    if not len(times[0]) or not (np.abs(times) <= MAX_TIME_CODE).all():
        raise ValueError
    if (times != times[0]).any() or (segments != segments[0]).any():
        raise ValueError
    values = np.array([[knot.GetValue() for knot in column] for column in knots]).T
    widths, slopes = (
        np.array([[(pre(knot), post(knot)) for knot in column] for column in knots]).transpose(2, 1, 0)
        for pre, post in (
            (Ts.Knot.GetPreTanWidth, Ts.Knot.GetPostTanWidth),
            (Ts.Knot.GetPreTanSlope, Ts.Knot.GetPostTanSlope),
        )
    )
    before, after = np.stack([reading.seconds(widths), widths * slopes], axis=-1)
    modes = {
        Ts.ExtrapHeld: "hold",
        Ts.ExtrapLinear: "linear",
        Ts.ExtrapLoopReset: "cycle",
        Ts.ExtrapLoopRepeat: "cycle_offset",
    }
    beyond = (splines[0].GetPreExtrapolation().mode, splines[0].GetPostExtrapolation().mode)
    extrapolation = (modes[beyond[0]], modes[beyond[1]])
    return Curve(channel, reading.seconds(times[0]), values, segments[0, :-1], before, after, extrapolation)


def _replace_joint_curve(baked: list[Curve], spline: Curve) -> list[Curve] | None:
    """The curves with that of a joint replaced; None where they disagree. A joint without a baked curve rests."""
    kind = "rotation" if spline.channel.kind == "euler" else spline.channel.kind
    places = [i for i, c in enumerate(baked) if (c.channel.target, c.channel.kind) == (spline.channel.target, kind)]
    if not places:
        return [*baked, spline] if (spline.sample(_dense_times(spline)) == spline.values[0]).all() else None
    other = baked[places[0]]
    values = spline.sample(other.times)
    if kind == "rotation":
        values = euler.from_euler(values, "".join(spline.channel.columns)) if spline.channel.kind == "euler" else values
        apart = quaternion.angle_between(quaternion.normalise(values), quaternion.normalise(other.values))
        if apart.max() > SPLINE_TOLERANCE:
            return None
    elif not _same(values, other.values, 100 * SPLINE_TOLERANCE if kind == "scale" else SPLINE_TOLERANCE):
        return None
    return [*baked[: places[0]], spline, *baked[places[0] + 1 :]]


def _replace_weight_columns(baked: list[Curve], spline: Curve) -> list[Curve] | None:
    """The curves with some columns of weights taken out and the spline in their place; None where they disagree."""
    wanted = spline.channel
    result: list[Curve] = []
    places = []
    for curve in baked:
        channel = curve.channel
        shared = set(wanted.columns) & set(channel.columns)
        if channel.kind != "weights" or wanted.target not in ("", channel.target) or not shared:
            result.append(curve)
            continue
        values = spline.sample(curve.times)
        for name in shared:
            if not _same(
                values[:, wanted.columns.index(name)], curve.values[:, channel.columns.index(name)], SPLINE_TOLERANCE
            ):
                return None
        left = [i for i, name in enumerate(channel.columns) if name not in shared]
        if left:
            rest = Channel(channel.target, "weights", tuple(channel.columns[i] for i in left))
            result.append(Curve(rest, curve.times, curve.values[:, left], curve.segments))
        places.append(len(result))
    return [*result[: places[0]], spline, *result[places[0] :]] if places else None


def _same(one: Array, other: Array, tolerance: float) -> bool:
    return bool((np.abs(one - other) <= tolerance * np.maximum(1.0, np.abs(other))).all())


def _dense_times(curve: Curve) -> Array:
    return np.linspace(curve.times[0], curve.times[-1], 8 * len(curve))
