"""The density of a latent space and the constants of the particle's motion, both from the training data.

**Density.** How likely a point of the latent space is, in the form that the particle needs half a dozen times a frame:

    p(x|M) = -(D / 2) log s(x),    s(x) = max(top - k(x)^T P k(x), floor),    k_i(x) = sigma^2 exp(-|x - x_i|^2 / 2 l^2)

The paper leaves p(x|M) undefined [Bailey 2016, eqs. 11 and 12]; this is the logarithm of the model's predictive
density at its own mean, up to a constant. A smooth kernel over many neighbouring frames repeats itself: k at all N
points is very nearly a linear function T of k at a few of them, chosen by a pivoted Cholesky factorisation, and then

    k^T P k = k_m^T (T^T P T) k_m        with  T = K_Nm K_mm^-1,  m of the order of 100 for N = 400.

Both the exponentials and the product shrink, ten times and more. The choice stops when the variance that the chosen
points leave unexplained is a small fraction of the noise. `error` is the largest change of log s(x) that was then
measured, and a kernel too rough for this keeps all its points.

**Motion constants** are chosen from the latents of the training frames, so that no user has to: how fast they move, how
soon their velocity changes, how far a second of motion goes, and how likely the model finds them beside points that no
frame has visited.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import erfc, exp, pi, sqrt

import numpy as np

from understudy import checks
from understudy.checks import Array, freeze
from understudy.errors import InvalidInput
from understudy.gp.covariance import squared_distances
from understudy.gp.mapping import LatentMapping

# Unexplained variance at any training point, over the noise, at which the choice of points stops. The likelihood force
# is then off by 0.2 % of its height (root mean square; 3 % at worst), on the dragon's spaces. A tenth of it costs up to
# a quarter more points; ten times it makes the error 2 % (40 % at worst).
MAX_UNEXPLAINED_NOISE_RATIO = 1e-2
MAX_KEPT_POINT_RATIO = 0.9  # of the points; where more are needed, the exact form costs no more
QUANTILE_POINTS = 250  # training points from which quantiles are taken: they are then known to 3 % of the points
# Of the kernel's height: points more than 5.3 lengths away are left out, a third to three quarters of the dragon's.
# It changes log s there by 1e-4 at most; 1e-5 would save little more and change it a hundred times as much.
MIN_KERNEL_RATIO = 1e-6
KERNEL_LANES = 4  # points that the kernels take at a time; arrays are padded to it by one or more with precision zero
# An idle's frame is off by 2e-6 of the radius with two (root mean square, on the dragon's spaces; 6e-5 at
# worst), by ten times that with one, by a third with four. A particle flung against its sphere, which no planned path
# does, is off by 0.005 with two and by 0.2 with one.
SUBSTEPS_PER_FRAME = 2
# A violated constraint decays as exp(-alpha t). At 16 per second a particle that a path leaves behind follows within 2
# frames of 24, as soon as hand animation itself gets going; at 30 it starts with a jerk, at 5 it lags by a fifth of a
# second.
CONSTRAINT_DECAY_PER_S = 16.0
# Hand animation changes velocity in 0.1 to 0.3 s when it moves and hardly at all when it holds; an idle as fast as the
# former looks nervous, beyond 0.6 s it floats.
MIN_SMOOTHNESS_SECONDS, MAX_SMOOTHNESS_SECONDS = 0.3, 0.6
# Idle speed over the clips' own: a hover that moves as fast as the acting distracts from it.
IDLE_SPEED_RATIO = 0.5
# Idle radius in kernel lengths: poses this near are still variations of the centre's (their correlation is 0.88).
IDLE_RADIUS_LENGTHS = 0.5
# Bound of the multiplier of eq. 9 over alpha^2: a third of it loses a particle in a tight turn, three times is a kick.
MAX_MULTIPLIER_RATIO = 9.0
MIN_SQUARED_DISTANCE = 1e-300  # replaces a squared distance of zero
HOVER_REACH_SECONDS = 0.5  # of the clips' own motion, within which a hover stays around its pose


@dataclass(frozen=True, eq=False)
class Density:
    """p(x|M) with its gradient.

    `points` (P, Q) and `precision` (P, P) are padded, with a precision of zero, to a multiple of `KERNEL_LANES`.
    """

    points: Array
    precision: Array
    variance: float
    length: float
    top: float
    floor: float
    dimensions: int
    error: float

    @cached_property
    def arrays(self) -> tuple[Array, Array, Array]:
        """For the kernels: points (Q, P), precision (P, P), and (5,) top, floor, 1 / l^2, D / 2, variance."""
        numbers = np.array([self.top, self.floor, 1 / self.length**2, 0.5 * self.dimensions, self.variance])
        return freeze(np.ascontiguousarray(self.points.T)), self.precision, freeze(numbers)

    def log_density_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """p(x|M) (M,) and its gradient (M, Q) at x (M, Q).

        The gradient is that of top - k^T P k also where s(x) is clamped: it points the right way there too.
        """
        k, b, s = self._variance(x)
        k *= b
        ds = -2 / self.length**2 * (k @ self.points - k.sum(axis=1)[:, None] * x)
        half = 0.5 * self.dimensions
        return -half * np.log(s), -half * ds / s[:, None]

    def log_density(self, x: Array) -> Array:
        """p(x|M) (M,) at x (M, Q)."""
        return -0.5 * self.dimensions * np.log(self._variance(x)[2])

    def _variance(self, x: Array) -> tuple[Array, Array, Array]:
        """k and P k (M, P), and s (M,)."""
        k = self.variance * np.exp(-0.5 / self.length**2 * squared_distances(x, self.points))
        k[k <= MIN_KERNEL_RATIO * self.variance] = 0.0
        b = k @ self.precision
        return k, b, np.maximum(self.top - np.einsum("mp,mp->m", k, b), self.floor)


def prepare_density(mapping: LatentMapping) -> Density:
    """The density of a mapping's model, over as few points as the tolerance allows."""
    from scipy.linalg import solve_triangular

    points, kernel = mapping.points, mapping.kernel
    order, factor = pivot_cholesky(kernel.cross_covariance(points, points), MAX_UNEXPLAINED_NOISE_RATIO * kernel.noise)
    m = factor.shape[1]
    if m > MAX_KEPT_POINT_RATIO * len(points):
        return density_over(mapping, points, mapping.precision)
    # With the chosen points first, T = (I, A)^T and T^T P T = P_mm + A P_nm + (A P_nm)^T + A P_nn A^T.
    a = solve_triangular(factor[:m], factor[m:].T, trans="T", lower=True)  # (m, N - m)
    p = mapping.precision[np.ix_(order, order)]
    across = a @ p[m:, :m]
    cheap = density_over(mapping, points[order[:m]], p[:m, :m] + across + across.T + a @ p[m:, m:] @ a.T)
    probes = neighbours(subsample(points), 0.5 * kernel.length, 1)
    difference = np.abs(cheap.log_density(probes) - mapping.log_density(probes)).max() / (0.5 * mapping.outputs)
    return replace(cheap, error=float(difference))


def density_over(mapping: LatentMapping, points: Array, precision: Array, error: float = 0.0) -> Density:
    """The density of a mapping's model over points (P, Q) with their precision (P, P)."""
    kernel = mapping.kernel
    spare = KERNEL_LANES - len(points) % KERNEL_LANES
    return Density(
        freeze(np.pad(np.asarray(points, np.float64), ((0, spare), (0, 0)))),
        freeze(np.pad(np.asarray(precision + precision.T) / 2, ((0, spare), (0, spare)))),
        float(kernel.variance),
        float(kernel.length),
        float(kernel.variance + kernel.noise),
        float(kernel.noise),
        mapping.outputs,
        error,
    )


def pivot_cholesky(covariance: Array, unexplained: float) -> tuple[Array, Array]:
    """An order (N,) of points, and the first m columns (N, m) of the Cholesky factor of their covariance (N, N) in it.

    Each point in turn is the one with the largest variance given those before it; after m, none has more than
    `unexplained` left.
    """
    from scipy.linalg.lapack import dpstrf

    factor, order, m, _ = dpstrf(covariance, lower=1, tol=unexplained)
    return order.astype(np.int64) - 1, np.tril(factor)[:, :m]


def subsample(points: Array) -> Array:
    """At most `QUANTILE_POINTS` of points (N, Q), evenly spaced in their order."""
    return points[:: -(-len(points) // QUANTILE_POINTS)]


def neighbours(points: Array, distance: float, copies: int) -> Array:
    """(copies N, Q) points at `distance` from the given ones (N, Q), in fixed pseudo-random directions."""
    rng = np.random.default_rng(20)
    direction = rng.normal(size=(copies, *points.shape))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    return (points + distance * direction).reshape(-1, points.shape[1])


@dataclass(frozen=True)
class MotionConstants:
    """Constants of eqs. 9 to 12 and of the random force, in latent units and seconds.

    `alpha` (1/s) how fast a violated constraint decays, beta = alpha; `a` (1/s^2) the strongest push towards likely
    regions; `v` and `l` (nats) the density at which it is half as strong, and the width of that sigmoid; `flat` (nats a
    unit) the gradient below which the density counts as level; `drag` (1/s); `amplitude` (1/s^2) the standard deviation
    of each component of the random force at liveliness 1 and `smoothness` (s) its time, sqrt(gamma); `radius` the
    default one of a hover; `speed` (1/s) of the clips when they move.
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
    def from_latents(cls, density: Density, latents: Array, segments: Array, times: Array) -> MotionConstants:
        """Constants from latents (N, Q) of frames at `times` (N,) seconds, in runs of equal `segments` (N,)."""
        x = checks.array(latents, "latents", ("N", "Q"))
        if not len(x):
            raise InvalidInput("latents should hold at least one frame, but are empty")
        speeds, accelerations = speeds_and_accelerations(x, segments, times)
        spread = max(float(np.sqrt(np.mean(np.sum((x - x.mean(axis=0)) ** 2, axis=1)))), 1e-3 * density.length)
        speed = float(np.quantile(speeds, 0.75)) if len(speeds) else 0.0
        speed = max(speed, 0.05 * spread)  # for a clip that holds still: once across the space in 20 s
        smoothness = smoothness_time(speeds, accelerations)
        radius = min(HOVER_REACH_SECONDS * speed, IDLE_RADIUS_LENGTHS * density.length, 0.5 * spread)
        amplitude = amplitude_for(min(IDLE_SPEED_RATIO * speed, radius), smoothness, x.shape[1])
        v, l, flat = likelihood_thresholds(density, x, radius)  # noqa: E741
        return cls(
            alpha=CONSTRAINT_DECAY_PER_S,
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
        """(6,) alpha, a, v, l, flat and drag, for the kernels."""
        return checks.freeze(np.array([self.alpha, self.a, self.v, self.l, self.flat, self.drag]))


def speeds_and_accelerations(x: Array, segments: Array, times: Array) -> tuple[Array, Array]:
    """Speeds between consecutive frames of a segment, and magnitudes of the accelerations of three of them."""
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


def smoothness_time(speeds: Array, accelerations: Array) -> float:
    """Smoothness of the random force, in seconds, so that a free particle's velocity lasts as long as the clips' does.

    That time is the ratio of root mean square speed and acceleration. A particle with drag 1 / tau under a force of
    smoothness tau has the ratio tau sqrt(phi / (1 - phi)), phi = `velocity_variance_ratio(1)`.
    """
    if not len(accelerations) or not accelerations.any():
        return MAX_SMOOTHNESS_SECONDS
    phi = velocity_variance_ratio(1.0)
    lasts = float(np.sqrt(np.mean(speeds**2) / np.mean(accelerations**2)))
    return float(np.clip(lasts / sqrt(phi / (1 - phi)), MIN_SMOOTHNESS_SECONDS, MAX_SMOOTHNESS_SECONDS))


def velocity_variance_ratio(ratio: float) -> float:
    """phi, the variance of v in v' = -c v + F over (A / c)^2, for F of covariance A^2 exp(-t^2 / tau^2), ratio = c tau.

    E[v^2] = (A^2 / c) integral_0^inf exp(-c t - t^2 / tau^2) dt.
    """
    return ratio * sqrt(pi) / 2 * exp(ratio**2 / 4) * erfc(ratio / 2)


def amplitude_for(speed: float, smoothness: float, dimensions: int) -> float:
    """Standard deviation of each component of a random force that gives a free particle a root mean square speed.

    The drag is 1 / smoothness.
    """
    return speed / (smoothness * sqrt(dimensions * velocity_variance_ratio(1.0)))


def likelihood_thresholds(density: Density, x: Array, radius: float) -> tuple[float, float, float]:
    """v and l of eq. 11, and the gradient that counts as level.

    The sigmoid falls from 0.95 to 0.05 of its height between the density that is usual a radius away from the training
    points, and the one that nine tenths of them exceed: there the particle is left alone. Where the two do not differ
    (a kernel so smooth that the whole sphere is likely), a sixth of a nat a dimension keeps the force continuous.
    """
    at_points = density.log_density(subsample(x))
    p, gradient = density.log_density_and_gradient(neighbours(subsample(x), radius, 2))
    inside, outside = float(np.quantile(at_points, 0.1)), float(np.median(p))
    outside = min(outside, inside - 0.1 * density.dimensions)
    steepness = np.linalg.norm(gradient, axis=1)
    return (inside + outside) / 2, (inside - outside) / 6, max(0.05 * float(np.median(steepness)), 1e-9)
