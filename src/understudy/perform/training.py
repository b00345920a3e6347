"""Training: from a library of labelled clips to a pose model.

One encoder and one metric for the character; then, label by label and several at once, a reduction and a GPLVM; then
the bridges between the labels that are hovered in. Cycles and acts are entered directly, so they need none: 76 clips
have 2,400 pairs, which took most of the time. A bridge from or to one of them is found when it is asked for
(`PerformanceModel.route`). Finished labels are kept in a folder beside the result until all are done, so that
an interrupted training continues where it stopped.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy import storage
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.gp.gplvm import GPLVM, SparseGPLVM, linear_latents
from understudy.maths.jit import map_in_threads
from understudy.perform import pose_space
from understudy.perform.behaviours import HOVER, label_behaviour
from understudy.perform.features.encoder import PoseEncoder
from understudy.perform.features.reduction import FeaturePca
from understudy.perform.features.weights import FeatureWeights, weigh_features
from understudy.perform.layers.eyes import open_and_frontal
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_space import PoseSpace, Segment
from understudy.perform.runtime.label_runtime import calibrate_idles

Progress = Callable[[int, int], None]
Mapper = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]

# A cubic cost: at this many frames the exact model takes about four times as long as at 600, and a gigabyte at 5,000.
MAX_EXACT_FRAMES = 1000
MIN_MOTION = 1e-9  # of a weighted feature, whose usual deviation is about 1: less is rounding
HOME_DISTINCT_QUANTILE = 0.6  # of the calm frames, by distance to other labels; the home is chosen from those above
# A home faces the front within the first, or, in a mood that looks away, as the least turned share of its calm frames.
HOME_FRONT_RAD, HOME_FRONT_QUANTILE = np.radians(15), 0.25
MIN_OPEN_EYES_SHARE = 0.1  # of the calm frames: a label that has fewer with open eyes keeps them shut


@dataclass(frozen=True)
class FitSettings:
    """Settings of a training. `share` of the variance of every view is kept by the linear reduction.

    The paper keeps 0.85 of all. Held-out frames of the dragon are then 15 mm off, with 0.98 a third of that, and feet
    slide three times less; training hardly takes longer, since the latent space has three dimensions either way.
    `iterations` 0 is a draft: linear latent spaces, and idles that are not calibrated. `sparse` None decides by the
    number of frames.
    """

    share: float = 0.98
    dimensions: int = 3
    iterations: int | None = None
    sparse: bool | None = None
    scaled: bool = True  # by influence on the mesh [Bailey 2016, eq. 3]; False only for comparison


@dataclass(frozen=True, eq=False)
class LabelFit:
    """The input of one label's fit; plain data, so that it can be sent to another process."""

    label: str
    clips: tuple[str, ...]
    features: tuple[Array, ...]  # (F, E) of each clip
    feature_weights: FeatureWeights
    rate: float
    settings: FitSettings
    kept: Path | None  # folder of the finished space and the optimiser's state

    @property
    def moves(self) -> bool:
        """Whether anything moves that is learned and seen."""
        weights = self.feature_weights.weights
        return any(np.ptp(values * weights, axis=0).max() > MIN_MOTION for values in self.features)

    @property
    def key(self) -> str:
        """A digest of data and settings."""
        digest = hashlib.sha256(json.dumps([self.label, self.clips, self.rate, asdict(self.settings)]).encode())
        for array in (*self.features, self.feature_weights.weights, self.feature_weights.views):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:20]


def fit_label(job: LabelFit, progress: Progress | None = None) -> PoseSpace:
    """The pose space of one label."""
    finished = None if job.kept is None else job.kept / f"{job.key}.space"
    if finished is not None and finished.exists():
        header, arrays = storage.read(finished)
        return PoseSpace.from_parts(header, arrays)
    lengths = [len(values) for values in job.features]
    features = np.concatenate(job.features)
    if job.settings.scaled:
        reduction = job.feature_weights.reduction(features, job.settings.share)
    else:
        reduction = FeaturePca.fit(features, (job.feature_weights.weights > 0).astype(float), job.settings.share)
    y = reduction.reduce(features)
    if y.shape[1] < 1:
        raise InvalidInput(f"nothing moves in the clips of label {job.label!r}, so there is nothing to learn from them")
    segments = np.repeat(np.arange(len(lengths)), lengths)
    times = np.concatenate([np.arange(length) / job.rate for length in lengths])
    sparse = len(y) > MAX_EXACT_FRAMES if job.settings.sparse is None else job.settings.sparse
    options: dict[str, Any] = {"dimensions": min(job.settings.dimensions, y.shape[1])}
    if job.settings.iterations is not None:
        options["iterations"] = job.settings.iterations
    if job.settings.iterations == 0:
        latents, mapping = linear_latents(y, times, options["dimensions"])
    else:
        learner = SparseGPLVM(**options) if sparse else GPLVM(**options)
        checkpoint = None if job.kept is None else job.kept / f"{job.key}.part.npz"
        learner.fit(y, segments, times, progress, checkpoint)
        latents, mapping = learner.latents_, learner.mapping_
    stops = np.cumsum(lengths)
    learnt = PoseSpace(
        job.label,
        reduction,
        mapping,
        latents,
        features.astype(np.float32),
        tuple(Segment(clip, int(stop - n), int(stop)) for clip, stop, n in zip(job.clips, stops, lengths)),
        job.rate,
    )
    parts = learnt.parts()
    if finished is not None:
        storage.write(finished, *parts)
    return PoseSpace.from_parts(*parts)  # to the bit what a file keeps: a saved model performs as this one does


def fit_library(
    library: ClipLibrary,
    settings: FitSettings | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
    mapper: Mapper | None = None,
    kept: Path | None = None,
    cast: str = "",
    embedded: bytes = b"",
) -> PerformanceModel:
    """The model of a library: a pose space a label and the bridges between them.

    `workers` threads fit labels at the same time, unless a `mapper` is given (`batch`), which may send them to other
    processes or machines. `kept` is a folder for finished labels; `progress(done, total)` is called as work is done.
    `cast` names the built-in character, or `embedded` is its GLB.
    """
    settings = settings or FitSettings()
    rate = library.rate
    encoder = PoseEncoder.fit(
        library.rig.channels,
        [take.rows for take in library.takes],
        rate,
        library.rig.rest,
        library.root,
        library.excluded_columns,
    )
    features = [encoder.encode(take.rows) for take in library.takes]
    feature_weights = weigh_features(encoder, library.rig, np.concatenate(features))
    if not feature_weights.weights.any():
        raise InvalidInput("nothing that moves in these clips moves the character, so there is nothing to learn")
    jobs = [
        LabelFit(
            label,
            tuple(take.clip for take in library.takes if take.label == label),
            tuple(values for take, values in zip(library.takes, features) if take.label == label),
            feature_weights,
            rate,
            settings,
            kept,
        )
        for label in library.labels
    ]
    still = [job.label for job in jobs if not job.moves]
    jobs = [job for job in jobs if job.moves]
    hovered = [job.label for job in jobs if label_behaviour(job.clips, library.behaviours)[1].kind == HOVER]
    pairs = list(itertools.combinations(hovered, 2))
    total = 100 * len(jobs) + 10 * len(pairs)
    spaces = {
        space.label: space
        for space in _fit_labels(
            jobs, mapper, workers, None if progress is None else lambda done: progress(done, total)
        )
    }
    looks = {label: space.features_of(space.latents) * feature_weights.weights for label, space in spaces.items()}

    def bridge_pair(pair: tuple[str, str], progress: Progress) -> pose_space.Bridges:
        apart = pose_space.view_distances_squared(looks[pair[0]], looks[pair[1]])
        return pose_space.find_bridges(spaces[pair[0]], spaces[pair[1]], feature_weights.weights, apart)

    def report(hundredths: int) -> None:
        if progress is not None:
            progress(100 * len(jobs) + hundredths // 10, total)

    pair_bridges = tuple(map_in_threads(bridge_pair, pairs, workers, report))
    alone = distances_to_others(looks)
    for label, space in spaces.items():
        rows = encoder.place(space.features, np.zeros((len(space), 3)))
        calm = calm_frames(space, *open_and_frontal(library.rig, rows))
        home = home_frame(looks[label], alone[label], calm)
        spaces[label] = replace(space, home=home, reduction=rest_unlearned(space, encoder, calm))
    notes = library.notes
    if still:
        notes = (*notes, f"labels in which nothing moves that is learned were left out: {join_names(still)}")
    model = PerformanceModel(
        encoder,
        spaces,
        pair_bridges,
        feature_weights.weights,
        feature_weights.metric,
        {name: encoder.encode(row[None])[0] for name, row in library.poses.items()},
        cast,
        embedded,
        notes,
        {
            clip: behaviour if behaviour.returns in spaces else replace(behaviour, returns="")
            for clip, behaviour in library.behaviours.items()
        },
    )
    return model if settings.iterations == 0 else calibrate_idles(model, library.rig, workers)


def distances_to_others(looks: Mapping[str, Array]) -> dict[str, Array]:
    """Label -> (N,) squared distance of each of its weighted poses (N, E) to the nearest pose of any other label."""
    alone = {label: np.full(len(poses), np.inf) for label, poses in looks.items()}
    for one, other in itertools.combinations(looks, 2):
        apart = pose_space.view_distances_squared(looks[one], looks[other])
        alone[one] = np.minimum(alone[one], apart.min(axis=1))
        alone[other] = np.minimum(alone[other], apart.min(axis=0))
    return alone


def calm_frames(space: PoseSpace, is_open: Array, turned: Array) -> Array:
    """The slower half of a label's frames; of those the ones with open eyes that face the front, where it has such.

    `is_open` (N,) says whether the eyes are open, `turned` (N,) by how many radians the face is turned aside.
    """
    speeds = np.concatenate(
        [np.linalg.norm(np.gradient(space.latents[s.start : s.stop], axis=0), axis=1) for s in space.segments]
    )
    calm = np.flatnonzero(speeds <= np.median(speeds))
    if is_open[calm].mean() >= MIN_OPEN_EYES_SHARE:
        calm = calm[is_open[calm]]
    return calm[turned[calm] <= max(HOME_FRONT_RAD, float(np.quantile(turned[calm], HOME_FRONT_QUANTILE)))]


def rest_unlearned(space: PoseSpace, encoder: PoseEncoder, calm: Array) -> FeaturePca:
    """The reduction of a space with the median of calm frames for features that are not learned.

    They keep the mean else, and the mean of lids that blink is half shut. Moods keep their lids so: drooping, or wide.
    """
    reduction = space.reduction
    rest = np.median(space.features[calm], axis=0).astype(np.float32)  # as exact as a file
    mean = np.where(encoder.learned, reduction.mean, rest)
    return FeaturePca(mean, reduction.scale, reduction.basis, reduction.explained)


def home_frame(looks: Array, alone: Array, calm: Array) -> int:
    """The most typical frame of a label: calm, unlike the other labels, and most like the other frames of that kind.

    Clips begin and end near neutral, so the most typical frame of all is often no different from another label's.
    `looks` (N, E) are its weighted poses, `alone` (N,) their squared distances to the nearest pose of other labels,
    `calm` the frames to choose from.
    """
    if np.isfinite(alone).all():
        calm = calm[alone[calm] >= np.quantile(alone[calm], HOME_DISTINCT_QUANTILE)]
    return int(calm[np.sqrt(pose_space.view_distances_squared(looks[calm], looks[calm])).mean(axis=1).argmin()])


def _fit_labels(
    jobs: list[LabelFit], mapper: Mapper | None, workers: int | None, report: Callable[[int], None] | None
) -> Iterator[PoseSpace]:
    """The spaces in the order of the jobs; `report` is called with hundredths of labels."""
    if mapper is not None:
        for number, space in enumerate(mapper(fit_label, jobs)):
            if report is not None:
                report(100 * (number + 1))
            yield space
        return
    yield from map_in_threads(fit_label, jobs, workers, report)
