"""The lamp's acting keeps the laws of its world: ground, contact, limits, no corners, no collisions."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from assets.members import lamp
from assets.sculpting.fields import ramp
from understudy import cast
from understudy.cast.dope_sheet import tracks
from understudy.character import Asset
from understudy.character.rig import DirectRig
from understudy.errors import InvalidInput

CLIPS = lamp.CLIPS


@lru_cache(maxsize=1)
def asset() -> Asset:
    return cast.load("lamp")


@lru_cache(maxsize=8)
def moving(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (F, V, 3) and world_from_joint (F, J, 4, 4) of all frames of a clip."""
    rig = DirectRig(asset().character())
    rows = rig.pose(asset().animation(name))
    return rig.vertices(rows).astype(np.float64), rig.joints(rows)


@lru_cache(maxsize=1)
def main_joint() -> np.ndarray:
    """(V,) name of the joint that each vertex hangs on most."""
    body = asset().character()
    names = np.array(body.skeleton.names)
    return np.concatenate([names[part.skin.joints[part.skin.influences[:, 0]]] for part in body.parts])


def base_of(vertices: np.ndarray) -> np.ndarray:
    """(F, B, 3) the vertices that hang on the base and nowhere else: the foot, its ring and its button."""
    body = asset().character()
    rigid = np.concatenate([np.full(len(part.mesh.vertices), part.name != "Cable") for part in body.parts])
    return vertices[:, rigid & (main_joint() == "Base")]


def test_the_cast_is_found_by_name() -> None:
    assert "lamp" in cast.names()
    assert asset().format == "cast" and asset().character().name == "lamp"
    assert tuple(animation.name for animation in asset().animations) == CLIPS
    with pytest.raises(InvalidInput, match=r"there is no cast member 'toaster'; available: .*'lamp'"):
        cast.load("toaster")


@pytest.mark.parametrize("name", CLIPS)
def test_length_rate_and_labels(name: str) -> None:
    animation = asset().animation(name)
    assert animation.rate == 24 and animation.labels == (name,)
    assert 3 <= animation.duration <= 6
    assert len(asset().clip(name)) == round(animation.duration * 24) + 1


@pytest.mark.parametrize("name", CLIPS)
def test_nothing_is_ever_below_the_ground(name: str) -> None:
    vertices, _ = moving(name)
    assert vertices[..., 1].min() > -1e-6  # float32 vertices


@pytest.mark.parametrize("name", CLIPS)
def test_in_contact_the_base_touches_the_ground_and_does_not_slide(name: str) -> None:
    base = base_of(moving(name)[0])
    sheet = next(s for s in lamp.read_sheets(asset().character().skeleton) if s.name == name)
    assert sheet.contacts
    standing = np.zeros(len(base), dtype=bool)
    for contact in sheet.contacts:
        frames = np.arange(int(contact.start), int(contact.end) + 1)
        standing[frames] = True
        assert np.abs(base[frames, :, 1].min(axis=1)).max() < 1e-6
        for before, after in zip(base[frames[:-1]], base[frames[1:]]):
            touching = (before[:, 1] < 1e-6) & (after[:, 1] < 1e-6)
            assert touching.any()
            assert np.abs(after - before)[touching].max() < 2e-6
    flying = base[~standing][..., 1]
    assert flying.size == 0 or flying.min() > 0.05  # a hop that nobody could see would not be one


@pytest.mark.parametrize("name", CLIPS)
def test_all_angles_stay_within_the_joints_limits(name: str) -> None:
    animation = asset().animation(name)
    values = animation.sample(np.linspace(animation.start, animation.start + animation.duration, 2000))
    for number, channel in enumerate(animation.channels):
        if channel.kind != "euler" or channel.target == "Root":
            continue
        for k, axis in enumerate(channel.columns):
            angle = np.degrees(values[:, animation.channels.offsets[number] + k])
            low, high = cast.limits("lamp")[channel.target].get(axis, (0.0, 0.0))
            assert low - 1e-6 <= angle.min() and angle.max() <= high + 1e-6, (channel.target, axis)


@pytest.mark.parametrize("name", CLIPS)
def test_there_are_corners_only_where_the_sheet_asks_for_them(name: str) -> None:
    sheet = next(s for s in lamp.read_sheets(asset().character().skeleton) if s.name == name)
    for channel, column in tracks.sheet_columns(sheet).items():
        into, out = column.before[1:-1], column.after[1:-1]
        smooth = ~column.broken[1:-1]
        assert np.allclose((into[:, 1] * out[:, 0])[smooth], (out[:, 1] * into[:, 0])[smooth]), channel
        asked = sum(key.interpolation.broken or key.interpolation.straight for key in sheet.tracks[channel])
        assert column.broken.sum() <= 2 * asked


@pytest.mark.parametrize("name", CLIPS)
def test_nothing_pops(name: str) -> None:
    """No joint turns faster than in a launch, 45 degrees a frame; the head, which the eye follows, 25 in the world."""
    animation = asset().animation(name)
    fine = animation.sample(np.arange(animation.start, animation.start + animation.duration, 1 / 192))
    turns = animation.channels.columns_of("euler")
    assert np.degrees(np.abs(np.diff(fine[:, turns], axis=0)).max()) * 8 < 45
    head = moving(name)[1][:, asset().character().skeleton.index("Head"), :3, 2]
    step = np.degrees(np.arccos(np.clip((head[1:] * head[:-1]).sum(axis=1), -1, 1)))
    assert step.max() < 25


@pytest.mark.long
@pytest.mark.parametrize("name", CLIPS)
def test_the_shade_never_cuts_into_base_or_arms(name: str) -> None:
    vertices, world = moving(name)
    depth, radius = in_shade(vertices, world[:, asset().character().skeleton.index("Head")])
    outline = np.array([(-0.058, 0.0), (-0.04, 0.042), (0.0, 0.058), (0.036, 0.07), (0.07, 0.092), (0.116, 0.137)])
    outline = np.concatenate([outline, [(0.18, 0.176), (0.252, 0.197), (0.285, 0.203)]])
    inside = (depth > -0.058) & (depth < 0.285) & (radius < np.interp(depth, *outline.T))
    others = np.isin(main_joint(), ("Base", "Swivel", "LowerArm", "UpperArm", "Cord"))
    assert not inside[:, others].any()
    glass = main_joint() == "Bulb"
    assert inside[:, glass].all()


def in_shade(vertices: np.ndarray, world_from_head: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Depth along the shade's axis and distance from it, with the slant of the opening taken out by a fixed point."""
    relative = np.einsum("fji,fvj->fvi", world_from_head[:, :3, :3], vertices - world_from_head[:, None, :3, 3])
    tilt = np.radians(lamp.SHADE_TILT)
    along = relative @ np.array([0.0, -np.sin(tilt), np.cos(tilt)])
    up = relative @ np.array([0.0, np.cos(tilt), np.sin(tilt)])
    depth = along
    for _ in range(30):
        depth = along - lamp.VISOR * up * ramp(0.05, 0.285, depth)
    return depth, np.hypot(relative[..., 0], up)


@pytest.mark.parametrize("name", CLIPS)
def test_no_hold_is_dead(name: str) -> None:
    """Over any 12 frames the lip of the shade moves by more than a millimetre: holds drift, they do not freeze."""
    vertices, _ = moving(name)
    lip = vertices[:, np.flatnonzero(main_joint() == "Head")[-1]]
    travelled = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(lip, axis=0), axis=1))])
    assert (travelled[12:] - travelled[:-12]).min() > 0.001


def test_every_clip_begins_at_rest_so_that_they_can_be_joined() -> None:
    rest = np.concatenate([part.mesh.vertices for part in asset().character().parts])
    for name in CLIPS:
        assert np.allclose(moving(name)[0][0], rest, atol=1e-6)


def test_loaded_twice_it_acts_the_same() -> None:
    again = cast.load("lamp")
    for name in CLIPS:
        assert np.array_equal(again.clip(name).values, asset().clip(name).values)
