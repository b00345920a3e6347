"""Contacts: where in a label's space each foot stands on the ground, as its clips have it.

In a frame of a clip a foot stands if it is low and still for a while. A walk on the spot, as games have it, slides its
feet by design: there no foot stands, and nothing should hold it. Each training frame keeps whether each foot stands,
whether it slides, and how high it is; between frames the nearest ones of the latent space are averaged. How high the
ground is, only those frames tell in which the foot stands: a jump that is left in the air lands on it, not above.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array

LOW = 0.03  # of the height, above where it usually stands
UNEVEN = 0.06  # of the height that a foot may stand higher or lower in a clip than in the others
STILL = 0.2  # heights a second over the ground
LASTS = 0.12  # seconds that a foot stands at least
SURE = 0.05  # of a frame in which the foot stands: where fewer speak, the ground is where it usually is
FRAMES = 1.5  # steps from frame to frame of a clip: how far in the latent space a frame speaks for its surroundings


@dataclass(frozen=True, eq=False)
class LabelContacts:
    """The training frames of a label."""

    latents: Array  # (N, Q)
    sharpness: float
    known: Array  # (N, 4 n) whether each of n feet stands, whether it slides, how high it is, and that if it stands

    @classmethod
    def of(cls, latents: Array, known: Array, bounds: Iterable[tuple[int, int]]) -> LabelContacts:
        """Latents (N, Q), what is known of them (N, 4 n), and the frames from and to of each clip."""
        steps = [np.linalg.norm(np.diff(latents[start:stop], axis=0), axis=1) for start, stop in bounds]
        usual = FRAMES * max(float(np.median(np.concatenate(steps))), 1e-9)
        return cls(np.array(latents, float), 0.5 / usual**2, np.array(known, float))

    def at(self, x: Array) -> Array:
        """(4 n,) at a latent (Q,)."""
        away = np.square(self.latents - x).sum(axis=1)
        weights = np.exp(self.sharpness * (away.min() - away))
        return np.asarray(weights @ self.known / weights.sum())


def at(labels: Mapping[str, LabelContacts], places: Iterable[tuple[str, Array, float]]) -> Array:
    """(4 n,) of all voices: label, latent and weight of each."""
    total, sum_of_weights = np.zeros(0), 0.0
    for label, x, weight in places:
        known = weight * labels[label].at(x)
        total = known if not sum_of_weights else total + known
        sum_of_weights += weight
    return total / max(sum_of_weights, 1e-12)


def standing(places: Array, low: float, size: float, rate: float) -> Array:
    """(F,) bool: the frames in which a point (F, 3) of a clip stands, `low` being how high it may be."""
    if len(places) < 2:
        return np.asarray(places[:, 1] < low)
    speeds = np.linalg.norm(np.gradient(places[:, [0, 2]], axis=0), axis=1) * rate / size
    stands = (places[:, 1] < low) & (speeds < STILL)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], stands.astype(int), [0]])))
    for start, stop in zip(edges[::2], edges[1::2]):
        cut = start == 0 or stop == len(stands)  # a loop may go on where the clip ends
        if not cut and stop - start < LASTS * rate:
            stands[start:stop] = False
    return np.asarray(stands)


def ground(stands: float, height: float, floor: float) -> float:
    """How high a foot stands where frames say so by `stands`, and by how much `height` in all; else at its floor."""
    return (height + SURE * floor) / (stands + SURE)
