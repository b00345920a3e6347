"""Characters that people have made learn from a few of their clips and perform six commands each.

Few iterations and few labels, so that it stays short. The figures of whole characters are in
`benchmarks/notes/perform.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file

from understudy import formats
from understudy.character import Asset, Clip, rig
from understudy.checks import Array
from understudy.perform.commands import Command, GoTo, Idle, LookAt, Mix, PlayClip, Transition
from understudy.perform.layers import layers_of
from understudy.perform.library import ClipLibrary, rows_of, times_of
from understudy.perform.library_file import read as read_library
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.performer import Performer
from understudy.perform.training import FitSettings, fit_library

pytestmark = pytest.mark.long
RATE = 24.0
LOW = 0.03  # of the height: what is nearer to the floor stands on it
CMU = {"happy": "79_69", "laughing": "79_70", "sad": "79_71", "crying": "79_72"}


@dataclass(frozen=True)
class Case:
    """A character, the labels that it learns, what it does then, and how much its feet may slide.

    `slide` is a factor: of what the feet of its own clips do, the fastest of them. Clips of games walk on the spot, so
    their feet slide in the source already; captured feet stand. `feet` are joints, `ends` where their legs end.
    """

    file: str
    labels: tuple[str, ...]
    start: str
    commands: tuple[Command, ...]
    feet: tuple[str, ...]
    ends: tuple[str, ...] = ()
    slide: float = 0.8


CASES = {
    "robot": Case(
        "gltf_threejs/RobotExpressive.glb",
        ("Idle", "Yes", "Wave", "Walking", "Dance"),
        "Idle",
        (
            *(Idle(seconds=1.5), LookAt((1.0, 1.5, 2.0)), Transition("Yes"), GoTo("Wave@0.9"), PlayClip("Walking")),
            Mix(("Idle", "Dance"), 0.5, seconds=1.5),
        ),
        feet=("Foot.L", "Foot.R"),
        ends=("LowerLeg.L_end", "LowerLeg.R_end"),
    ),
    "knight": Case(
        "gltf_kaykit/Knight.glb",
        ("Idle", "Cheer", "Block", "Walking_A", "Dodge_Forward"),
        "Idle",
        (
            *(
                Idle(seconds=1.5),
                Transition("Cheer"),
                GoTo("Block@0.3"),
                PlayClip("Walking_A"),
                PlayClip("Dodge_Forward"),
            ),
            Mix(("Idle", "Block"), 0.5, seconds=1.5),
        ),
        feet=("foot.l", "foot.r"),
    ),
    "fox": Case(
        "gltf_khronos/Fox.glb",
        ("Survey", "Walk", "Run"),
        "Survey",
        (
            *(Idle(seconds=1.5), Transition("Walk"), PlayClip("Walk"), Mix(("Walk", "Run"), 0.5, seconds=1.5)),
            *(GoTo("Survey@1.5"), Idle(("Survey@0.5", "Survey@2.5"), seconds=2.0)),
        ),
        feet=("b_LeftHand_011", "b_RightHand_08", "b_LeftFoot02_018", "b_RightFoot02_022"),
    ),
    "horse": Case(
        "gltf_quaternius/animals_pack_Horse.glb",
        ("Idle", "Eating", "Idle_2", "Walk", "Attack_Kick"),
        "Idle",
        (
            *(Idle(seconds=1.5), Transition("Eating"), GoTo("Idle_2@1.5"), PlayClip("Walk")),
            *(Mix(("Idle", "Eating"), 0.5, seconds=1.5), PlayClip("Attack_Kick")),
        ),
        feet=("IKFrontLeg.L", "IKFrontLeg.R", "IKBackLeg.L", "IKBackLeg.R"),
        ends=("FrontLowerLeg.L_end", "FrontLowerLeg.R_end", "BackLowerLeg.L_end", "BackLowerLeg.R_end"),
    ),
    "trex": Case(
        "gltf_quaternius/dinosaurs_pack_Trex.glb",
        ("TRex_Idle", "TRex_Walk", "TRex_Attack", "TRex_Run"),
        "TRex_Idle",
        (
            *(Idle(seconds=1.5), Transition("TRex_Walk"), GoTo("TRex_Attack@0.5"), PlayClip("TRex_Run")),
            *(Mix(("TRex_Idle", "TRex_Walk"), 0.5, seconds=1.5), Idle(label="TRex_Idle", seconds=2.0)),
        ),
        feet=("BackFoot.L", "BackFoot.R"),
        ends=("BackLowLeg.L_end", "BackLowLeg.R_end"),
    ),
    "actor": Case(
        "bvh_cmu/79_69.bvh",
        tuple(CMU),
        "happy",
        (
            *(Idle(seconds=1.5), Transition("laughing"), GoTo("79_71@4.0"), PlayClip("79_72", 2.0, 3.5)),
            *(Mix(("sad", "happy"), 0.4, seconds=1.5), Idle(("79_69@2.0", "79_69@4.0"), seconds=2.0)),
        ),
        feet=("LeftFoot", "RightFoot"),
        slide=0.3,
    ),
}


@dataclass(frozen=True, eq=False)
class Take:
    """What a character learned and what it did."""

    case: Case
    library: ClipLibrary
    model: PerformanceModel
    rows: Array  # (F, C)
    idle: Array  # (F, C) of twelve seconds more
    done: int  # commands that got where they were going
    shown: tuple[tuple[str, ...], ...]  # F, the labels that are seen in each of the rows
    performer: Performer

    def points(self, rows: Array) -> Array:
        """(F, P, 3) every joint of the skin, or all."""
        return np.asarray(self.library.rig.joints(rows)[..., :3, 3][:, self.library.character.joints])

    @cached_property
    def sources(self) -> list[Array]:
        """(F, P, 3) of each clip at the rate of the performance."""
        return [self.points(take.rows) for take in self.library.takes]

    @cached_property
    def feet(self) -> list[int]:
        """The feet and all that hangs on them."""
        skeleton = self.library.character.skeleton
        tops = {skeleton.names.index(name) for name in self.case.feet}
        return [joint for joint in range(len(skeleton)) if tops.intersection(skeleton.ancestors(joint))]

    def places(self, rows: Array, joints: list[int]) -> Array:
        """(F, n, 3) of joints."""
        return np.asarray(self.library.rig.joints(rows)[..., :3, 3][:, joints])

    def slides(self, rows: Array) -> Array:
        """(F - 1, n) heights a second over the ground, of what of the feet is on it in two frames; else NaN."""
        floor = np.median(
            [np.quantile(self.places(t.rows, self.feet)[..., 1], 0.1, axis=0) for t in self.library.takes], 0
        )
        places = self.places(rows, self.feet)
        low = places[..., 1] < floor + LOW * self.size
        speeds = np.linalg.norm(np.diff(places[..., [0, 2]], axis=0), axis=-1) * RATE / self.size
        return np.where(low[1:] & low[:-1], speeds, np.nan)

    def depth(self, rows: Array) -> Array:
        """(F,) how low the lowest vertex of the feet is, or the lowest joint of a character without a mesh."""
        character = self.library.character
        if not character.parts:
            return np.asarray(self.places(rows, self.feet)[..., 1].min(axis=1))
        own = []
        for part in character.parts:
            main = np.take_along_axis(part.skin.influences, part.skin.weights.argmax(axis=1)[:, None], axis=1)[:, 0]
            own.append(np.isin(part.skin.joints[main], self.feet))
        return np.asarray(self.library.rig.vertices(rows)[:, np.concatenate(own), 1].min(axis=1), float)

    @cached_property
    def size(self) -> float:
        """Metres that the character is high, in its clips on the whole."""
        return float(np.median([np.ptp(points[..., 1], axis=1).max() for points in self.sources]))


def open_library(case: Case, folder: Path) -> ClipLibrary:
    if case.file.endswith(".bvh"):
        files = {label: data_file(f"bvh_cmu/{name}.bvh").as_posix() for label, name in CMU.items()}
        lines = [f'character = "{files["happy"]}"', f"rate = {RATE}", "[labels]"]
        (folder / "library.toml").write_text("\n".join([*lines, *(f'{k} = ["{v}"]' for k, v in files.items())]))
        return read_library(folder / "library.toml")
    whole = ClipLibrary.from_asset(formats.read(data_file(case.file)), RATE, source=case.file)
    return replace(whole, takes=tuple(take for label in case.labels for take in whole.of_label(label)))


@pytest.fixture(scope="module", params=list(CASES))
def take(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Take:
    case = CASES[request.param]
    library = open_library(case, tmp_path_factory.mktemp(request.param))
    model = fit_library(library, FitSettings(), workers=2)
    performer = Performer(model, library.rig, RATE, layers=layers_of(library.rig, model=model))
    state, rows, shown, done = performer.init(case.start), [], [(case.start,)], 0
    for command in case.commands:
        for frame in range(1 if isinstance(command, LookAt) else 151):
            if frame and performer.is_done(state):
                break
            state, row = performer.step(state, None if frame else command)
            rows.append(row)
            labels = tuple(source.label for source in state.sources)
            # a blend shows the motion that is left, until it is over
            shown.append((*labels, *shown[-1]) if state.blending else labels)
        done += performer.is_done(state)
    idle = []
    for number in range(12 * int(RATE)):
        state, row = performer.step(state, Idle(label=case.start) if number == 0 else None)
        idle.append(row)
    return Take(case, library, model, np.array(rows), np.array(idle), done, tuple(shown[1:]), performer)


def test_performs_six_commands(take: Take) -> None:
    assert len(take.case.commands) == 6 == take.done
    assert np.isfinite(take.rows).all() and np.isfinite(take.idle).all()
    turns = take.rows[:, take.library.rig.channels.columns_of("rotation")].reshape(len(take.rows), -1, 4)
    assert np.abs(np.linalg.norm(turns, axis=2) - 1).max() < 1e-6


def test_no_velocity_jump_above_that_of_the_clips(take: Take) -> None:
    """A change of velocity from one frame to the next, of any joint, in metres a second."""
    own = max(np.linalg.norm(np.diff(points, 2, axis=0), axis=-1).max() for points in take.sources) * RATE
    jumps = np.linalg.norm(np.diff(take.points(np.concatenate([take.rows, take.idle])), 2, axis=0), axis=-1) * RATE
    assert jumps.max() <= 1.0001 * own, f"{jumps.max() / own:.2f} of the clips' own in frame {jumps.max(1).argmax()}"


def test_stays_near_what_the_clips_do(take: Take) -> None:
    """No joint leaves its parent much further than it ever did: no limb is torn out of its body.

    Feet that hang on no leg (most of these rigs were made with IK) hang on the ground, and may leave that.
    """
    skeleton = take.library.character.skeleton
    root = take.model.encoder.root
    travels = -1 if root is None else skeleton.names.index(root.joint)
    joints = [j for j in range(len(skeleton)) if skeleton.parents[j] >= 0 and j != travels]
    parents = skeleton.parents[joints]

    def lengths(rows: Array) -> Array:
        places = take.library.rig.joints(rows)[..., :3, 3]
        return np.asarray(np.linalg.norm(places[:, joints] - places[:, parents], axis=-1))

    own = np.concatenate([lengths(clip.rows) for clip in take.library.takes])
    shown = lengths(np.concatenate([take.rows, take.idle]))
    assert (shown - own.max(axis=0)).max() < 0.15 * take.size
    assert (own.min(axis=0) - shown).max() < 0.03 * take.size


def test_an_idle_does_not_drift(take: Take) -> None:
    """Where the whole of it is over the ground on average, in the third to sixth second and in the last three."""
    points = take.points(take.idle)[..., [0, 2]]
    second = int(RATE)
    early, late = (part.mean(axis=(0, 1)) for part in (points[3 * second : 6 * second], points[-3 * second :]))
    assert np.linalg.norm(late - early) < 0.03 * take.size


def expect_slide_of_captures(take: Take, request: pytest.FixtureRequest) -> None:
    """A mix enters the most typical pose of a label, which may be one in mid-step."""
    if take.case.file.endswith(".bvh"):
        reason = "feet slide by 0.29 heights a second while the sad walk is mixed in"
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def test_feet_slide_as_they_do_in_the_clips(take: Take, request: pytest.FixtureRequest) -> None:
    """Speed over the ground of joints that are near it, other than those that never leave their place."""
    expect_slide_of_captures(take, request)
    every = np.concatenate(take.sources)
    floor = np.median([points[..., 1].min() for points in take.sources])
    moves = np.ptp(every[..., [0, 2]], axis=0).max(axis=1) > 0.05 * take.size

    def sliding(points: Array) -> float:
        low = (points[..., 1] < floor + LOW * take.size) & moves
        steps = np.linalg.norm(np.diff(points[..., [0, 2]], axis=0), axis=-1) * RATE / take.size
        found = [np.median(step[near]) for step, near in zip(steps, low[1:] & low[:-1]) if near.any()]
        return float(np.quantile(found, 0.95)) if found else 0.0

    shown, own = sliding(take.points(take.rows)), max(map(sliding, take.sources))
    assert 0 < shown <= take.case.slide * own, f"{shown:.2f} heights a second, {own:.2f} in the clip with the most"


def test_feet_that_stand_in_the_clips_stand(take: Take, request: pytest.FixtureRequest) -> None:
    """While labels are seen in whose clips feet stand, and have been for a fifth of a second: a gait stops first."""
    expect_slide_of_captures(take, request)
    own: dict[str, float] = {}
    for clip in take.library.takes:
        slides = take.slides(clip.rows)
        own[clip.label] = max(own.get(clip.label, 0.0), float(np.nanquantile(slides, 0.95)))
    still = {label for label, fastest in own.items() if fastest < 0.25}
    calm = [
        all(label in still for shown in take.shown[max(0, f - 4) : f + 1] for label in shown)
        for f in range(len(take.rows))
    ]
    slides = take.slides(take.rows)[np.array(calm[1:])]
    slides = slides[np.isfinite(slides)]
    assert len(slides) > 100
    assert np.quantile(slides, 0.99) < 0.15 and slides.max() < 0.3, f"{slides.max():.2f} heights a second"
    assert np.nanmax(take.slides(take.idle[48:])) < 0.15


def test_feet_do_not_sink_deeper_than_in_the_clips(take: Take) -> None:
    deepest: dict[str, float] = {}
    for clip in take.library.takes:
        deepest[clip.label] = min(deepest.get(clip.label, np.inf), float(take.depth(clip.rows).min()))
    allowed = np.array([min(deepest[label] for label in shown) for shown in take.shown])
    second = int(RATE)  # a blend shows the label that was left for up to so long
    allowed = np.array([allowed[max(0, f - second) : f + 1].min() for f in range(len(allowed))])
    assert (take.depth(take.rows) - allowed).min() > -0.02 * take.size


def test_feet_stay_at_their_legs(take: Take) -> None:
    """Of rigs whose feet hang on no leg: no further from its end than in any clip."""
    if not take.case.ends:
        pytest.skip("feet hang on their legs")
    names = take.library.character.skeleton.names
    feet, ends = ([names.index(name) for name in group] for group in (take.case.feet, take.case.ends))

    def apart(rows: Array) -> float:
        return float(np.linalg.norm(take.places(rows, feet) - take.places(rows, ends), axis=-1).max())

    own = max(apart(clip.rows) for clip in take.library.takes)
    assert apart(take.rows) < own + 0.01 * take.size


@pytest.mark.parametrize("seed", [7, 33, 59, 122])
def test_interrupted_at_random_it_does_not_jump(take: Take, seed: int, request: pytest.FixtureRequest) -> None:
    """Nothing is cut off any more where a blend is too sudden, so this measures what the blends were chosen for."""
    if "Trex" in take.case.file and seed == 59:
        reason = "1.02 of the clips' own in frame 167; the cause is not found"
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    random = np.random.default_rng(seed)
    state, rows = take.performer.init(take.case.start, seed=seed), []
    for _ in range(12):
        label = take.case.labels[random.integers(len(take.case.labels))]
        clip = take.model.space(label).segments[0].clip
        command = (Transition(label), Idle(label=label), PlayClip(clip))[random.integers(3)]
        for frame in range(int(random.integers(4, 36))):
            state, row = take.performer.step(state, command if frame == 0 else None)
            rows.append(row)
    own = max(np.linalg.norm(np.diff(points, 2, axis=0), axis=-1).max() for points in take.sources)
    jumps = np.linalg.norm(np.diff(take.points(np.array(rows)), 2, axis=0), axis=-1)
    assert jumps.max() <= 1.0001 * own, f"{jumps.max() / own:.2f} of the clips' own in frame {jumps.max(1).argmax()}"


def test_in_a_crowd_it_does_what_it_does_alone(take: Take) -> None:
    performer, goal = take.performer, take.case.labels[1]
    crowd = [performer.init(take.case.start, seed=seed) for seed in (1, 2, 3)]
    alone = crowd[1]
    for frame in range(40):
        command = Transition(goal) if frame == 5 else None
        crowd, rows = performer.step_all(crowd, [command] * 3)
        alone, row = performer.step(alone, command)
        assert np.array_equal(rows[1], row)


def test_what_is_written_is_what_was_performed(take: Take, tmp_path: Path) -> None:
    own = take.library
    clip = Clip("scene", own.rig.channels, take.rows, RATE)
    formats.write(Asset([own.character], [clip]), tmp_path / "scene.glb")
    asset = formats.read(tmp_path / "scene.glb")
    back = rig.rig_of(asset.character())
    animation = asset.animations[0]
    rows = rows_of(back, animation, times_of(animation, RATE), "scene")
    order = [back.character.skeleton.names.index(name) for name in own.character.skeleton.names]
    places = back.joints(rows)[..., :3, 3][:, order]
    assert np.abs(places - own.rig.joints(take.rows)[..., :3, 3]).max() < 1e-4 * take.size
