"""The face's seventy takes: from neutral to the peak and back, within range, none a copy, labels told apart."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.cast.face import shipped

from assets.lint import acting
from understudy import cast
from understudy.cast import sheet_library
from understudy.cast.sheet_library import face_controls, face_shape_of
from understudy.character import Curves
from understudy.formats.arkit_names import SHAPE_NAMES

SHEETS = {sheet.name: sheet for sheet in sheet_library.face_sheets()}
ALIKE = 0.35
"""Takes of one label share their peak by nature; 80 % of a take is 0.3 away from it (see `acting.ALIKE_DISTANCE`)."""


@cache
def weights(name: str) -> np.ndarray:
    """(F, 52) of a clip's own frames."""
    rig = shipped.rig()
    place = rig.channels.slice("Face", "weights")
    return rig.pose(shipped.asset().animation(name))[:, place]


@cache
def displaced(name: str) -> np.ndarray:
    """(F, 68, 3) of the landmarks in the head, in the units that the face is sculpted in."""
    return np.einsum("fs,slc->flc", weights(name), shipped.deltas()[:, cast.FACE_LANDMARKS])


def curves() -> tuple[Curves, ...]:
    return shipped.asset().curves


def test_there_are_ten_of_each_label() -> None:
    assert [c.name for c in curves()] == list(SHEETS)
    counts = {label: sum(c.labels == (label,) for c in curves()) for label in sheet_library.FACE_LABELS}
    assert set(counts.values()) == {10} and len(curves()) == 70


def test_no_take_has_an_error() -> None:
    findings = [(sheet.name, finding) for sheet in SHEETS.values() for finding in acting.lint(sheet, face_controls())]
    assert [(name, str(finding)) for name, finding in findings if finding.severity == "error"] == []


def test_takes_begin_and_end_neutral_and_stay_in_range() -> None:
    rig = shipped.rig()
    for c in curves():
        rows = rig.pose(c)
        assert np.abs(rows[[0, -1]] - rig.rest).max() < 1e-9, c.name
        assert weights(c.name).min() > -1e-9 and weights(c.name).max() < 1 + 1e-9, c.name


def test_the_peak_is_where_the_face_is_furthest_from_neutral() -> None:
    """Eyes are left out, which blink; a moving hold drifts on after the peak by some hundredths."""
    still = np.r_[0:36, 48:68]
    for c in curves():
        far = np.linalg.norm(displaced(c.name)[:, still], axis=2).mean(axis=1)
        assert far[round(c.moments["peak"] * c.rate)] > 0.92 * far.max(), c.name


def test_no_eye_is_shut_at_a_peak_by_a_blink() -> None:
    for c in curves():
        shut = weights(c.name)[
            round(c.moments["peak"] * c.rate), [SHAPE_NAMES.index(f"eyeBlink{s}") for s in ("Left", "Right")]
        ]
        assert shut.max() < 0.7, c.name


@pytest.mark.long
def test_no_take_is_another_one_mirrored_or_retimed() -> None:
    controls = face_controls()
    made = [sheet_library.face_library().curves(sheet) for sheet in SHEETS.values()]
    half = slice(None, None, 2)  # every other of its samples is as telling here, in a third of the time
    plain, mirrored = (np.array([acting.motion_path(c, controls, m)[half] for c in made]) for m in (False, True))
    for others in (plain, mirrored):
        for i in range(len(made) - 1):
            nearest = acting.clip_distances(plain[i], others[i + 1 :])
            assert nearest.min() > ALIKE, (made[i].name, made[i + 1 + int(nearest.argmin())].name, nearest.min())


def test_peaks_are_asymmetric_by_design() -> None:
    left = [i for i, name in enumerate(SHAPE_NAMES) if name.endswith("Left") and name not in ("jawLeft", "mouthLeft")]
    right = [SHAPE_NAMES.index(SHAPE_NAMES[i].replace("Left", "Right")) for i in left]
    sided = [np.abs(weights(c.name)[:, left] - weights(c.name)[:, right]).max() for c in curves()]
    assert min(sided) > 0.03
    contempt = [s for c, s in zip(curves(), sided) if c.labels == ("contempt",)]
    assert np.median(contempt) > 2 * np.median(sided) / 1.5


def test_brows_leave_no_later_than_the_mouth_in_surprise() -> None:
    """Leaving is a tenth of the region's own largest sum; in the startle, which winces first, both leave together."""
    brows = [i for i, name in enumerate(SHAPE_NAMES) if name.startswith("brow")]
    mouth = [i for i, name in enumerate(SHAPE_NAMES) if name.startswith(("mouth", "jawOpen"))]
    for c in curves():
        if c.labels == ("surprise",):
            totals = [weights(c.name)[:, region].sum(axis=1) for region in (brows, mouth)]
            leaves = [int(np.argmax(total > 0.1 * total.max())) for total in totals]
            assert leaves[0] <= leaves[1], (c.name, leaves)


def test_a_stranger_tells_the_labels_from_the_peaks() -> None:
    """Nearest mean of the other takes' peaks, leave one out: labels are in the data, not only in the names."""
    peaks = np.array([weights(c.name)[round(c.moments["peak"] * c.rate)] for c in curves()])
    peaks = np.delete(
        peaks, [i for i, name in enumerate(SHAPE_NAMES) if name.startswith(("eyeLook", "eyeBlink"))], axis=1
    )
    labels = np.array([c.labels[0] for c in curves()])
    right = 0
    for i, label in enumerate(labels):
        others = np.arange(70) != i
        means = np.array([peaks[others & (labels == other)].mean(axis=0) for other in sheet_library.FACE_LABELS])
        right += sheet_library.FACE_LABELS[int(np.linalg.norm(means - peaks[i], axis=1).argmin())] == label
    assert right >= 66


def test_controls_are_the_52_weights_once_each() -> None:
    assert sorted(face_shape_of().values()) == sorted(SHAPE_NAMES)
    assert len(face_controls()) == 55
