"""Bounding: whatever is asked for when, no joint changes its velocity more suddenly than in some clip.

A blend of two motions can be harsher than either: the clip that begins turns while the one that is left still brakes.
So the change is measured in the world, and where it is too much, something else is shown:

    y = p + s (y - p),      p = y1 + b (y1 - y2),

y being the features of this frame and y1, y2 those shown before. Of a few s and b the first is taken that is within
the clips' largest change: as much of the new pose as goes, else coasting, else braking, since what swings at full speed
turns suddenly by itself. Where none of them is, the gentlest is changed as little as brings its joints within (a few
Newton steps). What is left out is blended away from there on, as after any switch (`switching`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.live import switching
from understudy.live.legs import Hold
from understudy.live.planning import Planner
from understudy.live.state import State, changed
from understudy.posespace import Model
from understudy.rig import DirectRig, Rig

SPARE = 0.99  # of the clips' own, which what is cut may reach
# Pairs of s and b, from as much as possible of what was to be shown to as little.
CUTS = np.array([(s, b) for s in (0.9, 0.75, 0.6, 0.45, 0.3, 0.15, 0.0) for b in (1.0, 0.85, 0.6, 0.3)])
CLOSE = 0.9  # of the clips' own: joints that turn so suddenly are watched while others are brought within
STEPS = 4  # of Newton
PROBE = 1e-4  # of a feature, to find how joints answer
BACK = 0.4  # seconds in which what was cut comes back


@dataclass(frozen=True, eq=False)
class Bound:
    """The joints of a character, and how suddenly they turn in its clips."""

    rig: DirectRig
    joints: Array  # (J,) those of the skin
    most: float  # metres a second squared

    @classmethod
    def of(cls, model: Model, rig: Rig) -> Bound | None:
        """The bound of a model's clips; None where nothing moves, or where places of joints do not tell the look."""
        if not isinstance(rig, DirectRig):
            return None
        most, joints = 0.0, np.asarray(rig.character.joints)
        for space in model.spaces.values():
            for segment in space.segments:
                rows = model.encoder.decode(space.features[segment.start : segment.stop])
                turns = np.linalg.norm(np.diff(_places(rig, rows, joints), 2, axis=0), axis=-1)
                most = max(most, float(turns.max(initial=0.0)) * model.rate**2)
        return cls(rig, joints, most) if most > 0 else None

    def excess(self, before: Array, rows: Array, rate: float) -> Array:
        """(M,) how many times the clips' largest change of velocity rows (M, C) are after the two before (2, C)."""
        past, last = _places(self.rig, before, self.joints)
        turn = _places(self.rig, rows, self.joints) - 2 * last + past
        return np.asarray(np.linalg.norm(turn, axis=-1).max(axis=-1) * rate**2 / self.most)

    def keep(self, planner: Planner, ready: Sequence[State], after: list[State], rows: Array) -> None:
        """Change states `after` a frame and their rows (M, C), in place, where they turn too suddenly."""
        for i, (told, state) in enumerate(zip(ready, after)):
            voice = state.voice
            rests = isinstance(voice.leg, Hold) and voice.cursor > planner.rate
            if len(state.before) < 2 or (state.alone > 2 and (rests or voice.replaying)):
                continue  # a clip as it is, for the three frames that tell how it turns, or hardly a motion
            before = np.stack(state.before)
            if self.excess(before, rows[i : i + 1], planner.rate)[0] <= 1:
                continue
            s, b = CUTS.T[..., None]
            ahead = told.features + b * told.rate / planner.rate
            features = ahead + s * (state.features - ahead)
            excess = self.excess(before, _rows(planner, told, features), planner.rate)
            shown = features[(excess <= SPARE).argmax() if (excess <= SPARE).any() else excess.argmin()]
            if excess.min() > SPARE:
                shown = self._within(planner, told, before, shown)
            rows[i] = _rows(planner, told, shown[None])[0]
            after[i] = _cut(planner, told, state, shown)

    def _within(self, planner: Planner, told: State, before: Array, features: Array) -> Array:
        """Features (E,) changed as little as makes no joint turn more suddenly than it may."""
        past, last = _places(self.rig, before, self.joints)
        probes = PROBE * np.vstack([np.zeros(len(features)), np.eye(len(features))])
        for _ in range(STEPS):
            places = _places(self.rig, _rows(planner, told, features + probes), self.joints)
            turns = (places - 2 * last + past) * planner.rate**2 / self.most
            length = np.linalg.norm(turns[0], axis=-1)
            if length.max() <= SPARE:
                break
            watched = length > CLOSE
            wanted = turns[0, watched] * (np.minimum(SPARE**2 / length[watched], 1) - 1)[:, None]
            slopes = (turns[1:, watched] - turns[0, watched]).reshape(len(features), -1) / PROBE
            features = features + np.linalg.lstsq(slopes.T, wanted.ravel(), rcond=1e-3)[0]
        return features


def _rows(planner: Planner, told: State, features: Array) -> Array:
    """(K, C) rows of features (K, E) as they are shown, where the character stands."""
    ground, shown = told.ground, planner.range.within(features)
    return planner.model.encoder.place(shown, np.tile((ground.x, ground.z, ground.heading), (len(shown), 1)))


def _places(rig: DirectRig, rows: Array, joints: Array) -> Array:
    """(F, J, 3) of rows (F, C)."""
    return np.asarray(rig.joints(rows)[..., :3, 3][:, joints])


def _cut(planner: Planner, before: State, state: State, features: Array) -> State:
    """The state with other features (E,); the difference is blended away."""
    ground = planner.model.encoder.ground_after(planner.range.within(features), before.ground, planner.rate)
    rate = (features - before.features) * planner.rate
    return switching.blended(planner, changed(state, features=features, rate=rate, ground=ground), BACK)
