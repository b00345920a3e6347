"""The constants of the particle's motion, chosen from the training data so that nobody has to.

Everything is measured on the latents of the training frames: how fast they move, how soon their velocity changes, how
far a second of motion goes, and how likely the model finds them beside points that no frame has visited.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import erfc, exp, pi, sqrt

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.live.density import Density, around, some

# Of a frame. An idle's frame is off by 2e-6 of the radius then (root mean square, on the dragon's spaces; 6e-5 at
# worst), by ten times that with one, by a third with four. A particle flung against its sphere, which no planned path
# does, is off by 0.005 with two and by 0.2 with one.
SUBSTEPS = 2
# A violated constraint decays as exp(-alpha t). At 16 per second a particle that a path leaves behind follows within 2
# frames of 24, as soon as hand animation itself gets going; at 30 it starts with a jerk, at 5 it lags by a fifth of a
# second.
ALPHA = 16.0
# Seconds. Hand animation changes velocity in 0.1 to 0.3 s when it moves and hardly at all when it holds; an idle that
# follows the former looks nervous, beyond 0.6 s it floats.
QUICKEST, SLOWEST = 0.3, 0.6
# Idle speed, as a part of the clips' own: a hover that moves as fast as the acting upstages it.
CALM = 0.5
# Of the kernel's length: poses this near are still variations of the one at the centre (their correlation is 0.88).
NEAR = 0.5
# Times alpha^2, the multiplier of eq. 9: a third of it lets go of a particle in a tight turn, three times is a kick.
STIFFEST = 9.0
NOTHING = 1e-300  # instead of a squared distance of zero
REACH = 0.5  # seconds of the clips' own motion that a hover may wander from its pose


@dataclass(frozen=True)
class Forces:
    """Constants of eqs. 9 to 12 and of the random force, in latent units and seconds.

    `alpha` (1/s) how fast a violated constraint decays, beta = alpha; `a` (1/s^2) the strongest push towards likely
    regions; `v` and `l` (nats) the density at which it is half as strong, and how soon it changes; `flat` (nats a unit)
    the gradient below which a place counts as level; `drag` (1/s); `amplitude` (1/s^2) the standard deviation of each
    component of the random force at liveliness 1 and `smoothness` (s) its time, sqrt(gamma); `radius` of a hover that
    was given none; `speed` (1/s) of the clips when they move.
    """

    alpha: float
    a: float
    v: float
    l: float  # noqa: E741 - the paper's letter
    flat: float
    drag: float
    amplitude: float
    smoothness: float
    radius: float
    speed: float

    @classmethod
    def of(cls, density: Density, latents: Array, segments: Array, times: Array) -> Forces:
        """Chosen from latents (N, Q) of frames at `times` (N,) seconds, in runs of equal `segments` (N,)."""
        x = checks.array(latents, "latents", ("N", "Q"))
        if not len(x):
            raise InvalidInput("latents should hold at least one frame, but are empty")
        speeds, accelerations = motion(x, segments, times)
        spread = max(float(np.sqrt(np.mean(np.sum((x - x.mean(axis=0)) ** 2, axis=1)))), 1e-3 * density.length)
        speed = float(np.quantile(speeds, 0.75)) if len(speeds) else 0.0
        speed = max(speed, 0.05 * spread)  # a clip that holds still: once across the space in 20 s
        smoothness = time_of(speeds, accelerations)
        radius = min(REACH * speed, NEAR * density.length, 0.5 * spread)
        amplitude = amplitude_for(min(CALM * speed, radius), smoothness, x.shape[1])
        v, l, flat = likely(density, x, radius)  # noqa: E741
        return cls(
            alpha=ALPHA,
            a=sqrt(x.shape[1]) * amplitude,
            v=v,
            l=l,
            flat=flat,
            drag=1 / smoothness,
            amplitude=amplitude,
            smoothness=smoothness,
            radius=radius,
            speed=speed,
        )

    @cached_property
    def law(self) -> Array:
        """(6,) alpha, a, v, l, flat and drag, as the kernels read them."""
        return checks.freeze(np.array([self.alpha, self.a, self.v, self.l, self.flat, self.drag]))


def motion(x: Array, segments: Array, times: Array) -> tuple[Array, Array]:
    """Speeds between any two frames of a segment that follow each other, and sizes of accelerations of any three."""
    segments, times = np.asarray(segments), np.asarray(times, np.float64)
    if segments.shape != (len(x),) or times.shape != (len(x),):
        raise InvalidInput(
            f"segments and times should have one entry for each of {len(x)} frames, "
            f"but have shapes {segments.shape} and {times.shape}"
        )
    gap = np.diff(times)
    joined = (np.diff(segments) == 0) & (gap > 0)
    velocity = np.diff(x, axis=0)[joined] / gap[joined, None]
    both = joined[1:] & joined[:-1]
    every = np.divide(np.diff(x, axis=0), gap[:, None], out=np.zeros((len(gap), x.shape[1])), where=joined[:, None])
    between = 0.5 * (gap[1:] + gap[:-1])
    acceleration = np.diff(every, axis=0)[both] / between[both, None]
    return np.linalg.norm(velocity, axis=1), np.linalg.norm(acceleration, axis=1)


def time_of(speeds: Array, accelerations: Array) -> float:
    """Smoothness of the random force, in seconds, so that a free particle's velocity lasts as long as the clips' does.

    That time is the ratio of root mean square speed and acceleration. A particle with drag 1 / tau under a force of
    smoothness tau has the ratio tau sqrt(phi / (1 - phi)), phi = `wandering(1)`.
    """
    if not len(accelerations) or not accelerations.any():
        return SLOWEST
    phi = wandering(1.0)
    lasts = float(np.sqrt(np.mean(speeds**2) / np.mean(accelerations**2)))
    return float(np.clip(lasts / sqrt(phi / (1 - phi)), QUICKEST, SLOWEST))


def wandering(ratio: float) -> float:
    """phi, the variance of v in v' = -c v + F over (A / c)^2, for F of covariance A^2 exp(-t^2 / tau^2), ratio = c tau.

    E[v^2] = (A^2 / c) integral_0^inf exp(-c t - t^2 / tau^2) dt.
    """
    return ratio * sqrt(pi) / 2 * exp(ratio**2 / 4) * erfc(ratio / 2)


def amplitude_for(speed: float, smoothness: float, dimensions: int) -> float:
    """Standard deviation of each component of a random force that moves a free particle at this root mean square speed,
    with drag 1 / smoothness."""
    return speed / (smoothness * sqrt(dimensions * wandering(1.0)))


def likely(density: Density, x: Array, radius: float) -> tuple[float, float, float]:
    """v and l of eq. 11, and the steepness that counts as level.

    The sigmoid falls from 0.95 to 0.05 of its height between the density that is usual a radius away from the training
    points, and the one that nine tenths of them exceed: there the particle is left alone. Where the two do not differ
    (a kernel so smooth that the whole sphere is likely), a sixth of a nat a dimension keeps the force continuous.
    """
    at = density.log_density(some(x))
    p, gradient = density.log_density_and_gradient(around(some(x), radius, 2))
    inside, outside = float(np.quantile(at, 0.1)), float(np.median(p))
    outside = min(outside, inside - 0.1 * density.dimensions)
    steepness = np.linalg.norm(gradient, axis=1)
    return (inside + outside) / 2, (inside - outside) / 6, max(0.05 * float(np.median(steepness)), 1e-9)
