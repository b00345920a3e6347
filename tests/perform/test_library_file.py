"""Library files: clips of several files under labels; each mistake names the file and what was meant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.perform import small_world

from understudy.character import Asset
from understudy.errors import BadFile
from understudy.formats import registry
from understudy.perform import library_file
from understudy.perform.library import ClipLibrary
from understudy.perform.library_file import read as read_library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """hero.glb with three clips, other.glb with a Walk of its own, moves/*.glb with a clip each."""
    (tmp_path / "moves").mkdir()
    registry.write(small_world.asset(), tmp_path / "hero.glb")
    registry.write(small_world.asset(small_world.clip("Walk", 33)), tmp_path / "other.glb")
    for name in ("hop", "skip"):
        registry.write(small_world.asset(small_world.clip(name)), tmp_path / "moves" / f"{name}.glb")
    return tmp_path


def read(folder: Path, text: str) -> ClipLibrary:
    (folder / "hero.toml").write_text(text, encoding="utf-8")
    return read_library(folder / "hero.toml")


HERO = 'character = "hero.glb"\n'


def test_clips_of_several_files_come_together(folder: Path) -> None:
    library = read(
        folder,
        HERO
        + """
        rate = 12
        exclude = ["hand"]
        [labels]
        go = ["Walk", "other.glb:Walk", "moves/*.glb"]
        party = "Che*"
        [poses]
        smirk = "Cheer@0.5"
        first = "moves/hop.glb:hop"
        """,
    )
    assert [(take.label, take.clip) for take in library.takes] == [
        ("go", "Walk"),
        ("go", "other:Walk"),
        ("go", "hop"),
        ("go", "skip"),
        ("party", "Cheer"),
    ]
    assert library.rate == 12
    assert library.excluded_columns == ("hand",)
    assert Path(library.origin) == folder / "hero.glb"
    cheer = registry.read(folder / "hero.glb").animation("Cheer")
    np.testing.assert_allclose(library.poses["smirk"], library.rig.pose(cheer, [0.5])[0], atol=1e-12)
    assert set(library.poses) == {"smirk", "first"}


def test_a_rate_that_is_asked_for_goes_first(folder: Path) -> None:
    (folder / "hero.toml").write_text(HERO + 'rate = 12\n[labels]\na = ["Walk"]', encoding="utf-8")
    assert read_library(folder / "hero.toml", rate=6.0).rate == 6.0


def test_built_in_characters_are_opened_by_name(folder: Path) -> None:
    (folder / "b.toml").write_text('character = "lamp"\n[labels]\na = ["Walk"]', encoding="utf-8")
    asked = []

    def opened(name: str) -> Asset:
        asked.append(name)
        return small_world.asset()

    assert read_library(folder / "b.toml", opened).origin == "lamp"
    assert asked == ["lamp"]


def test_a_file_is_opened_once(folder: Path) -> None:
    asked = []

    def opened(name: str) -> Asset:
        asked.append(Path(name).name)
        return registry.read(name)

    (folder / "hero.toml").write_text(HERO + '[labels]\na = ["other.glb:Walk"]\nb = ["other.glb"]', encoding="utf-8")
    read_library(folder / "hero.toml", opened)
    assert sorted(asked) == ["hero.glb", "other.glb"]


LABELS = '[labels]\na = ["Walk"]\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("character = \n" + LABELS, "hero.toml, line 1, column 13: is not TOML"),
        (HERO + "[labels]\na = [", "is not TOML"),
        (LABELS, "character should be a text, but is missing"),
        ("character = 3\n" + LABELS, "character should be a text, but is 3"),
        ('character = "none.glb"\n' + LABELS, "none.glb: there is no such file"),
        ('character = "dragom"\n' + LABELS, "dragom: there is no such file"),
        (HERO + "[labels]", r"\[labels\] should give at least one label"),
        (HERO + "behaviours = 3", r"behaviours should be a table \[behaviours\]"),
        (HERO + '[behaviours]\nWlak = "act"', r"there is no clip 'Wlak' \(did you mean 'Walk'\?\)"),
        (
            HERO + '[behaviours]\nWalk = "loop"',
            "there is no kind 'loop'; available: 'cycle', 'act', 'pose', 'hover', 'ign",
        ),
        (HERO + "[behaviours]\nWalk = 3", "behaviour 'Walk' should be a kind or a table of kind, from, .* but is 3"),
        (HERO + "[behaviours]\nWalk = { sped = 2 }", r"'sped' \(did you mean 'speed'\?\)"),
        (HERO + "[behaviours]\nWalk = { speed = 0 }", "speed of behaviour 'Walk' should be a finite number above zero"),
        (HERO + '[behaviours]\nWalk = { from = "x" }', "from of behaviour 'Walk' should be seconds, but is 'x'"),
        (HERO + "[behaviours]\nWalk = { to = 9 }", "within its clip, 0 to 0.79.* s, but goes from 0 to 9 s"),
        (HERO + "[behaviours]\nWalk = { from = 0.5, to = 0.2 }", "to a later one within its clip"),
        (HERO + '[behaviours]\nWalk = { returns = "Rnu" }', r"'Rnu' \(did you mean 'Run'\?\)"),
        (HERO + '[behaviours]\nWalk = { ends = "hold" }', "there is no end of behaviour 'Walk' 'hold'"),
        (
            HERO + '[behaviours]\nWalk = { kind = "cycle", ends = "stay" }',
            "behaviour 'Walk' has ends, which only an act has, but its kind is cycle",
        ),
        (HERO + '[behaviours]\n"*" = "pose"', "should have a clip that moves, but has none: 'Walk', 'Run', 'Cheer'"),
        (HERO + "labels = 3", r"labels should be a table \[labels\], but is 3"),
        (HERO + "[labels]\na = []", "label 'a' should have at least one clip, but has none"),
        (HERO + "[labels]\na = 3", "label 'a' should be a list of texts, but is 3"),
        (HERO + "[labels]\na = [3]", "an entry of label 'a' should be a text, but is 3"),
        (HERO + '[labels]\na = ["Wlak"]', r"hero.toml: there is no clip 'Wlak' .*; available: 'Walk', 'Run', 'Cheer'"),
        (
            HERO + '[labels]\na = ["other.glb:Wlak"]',
            r"other.glb: there is no clip 'Wlak' \(did you mean 'Walk'\?\); available: 'Walk'",
        ),
        (HERO + '[labels]\na = ["gone.glb"]', "gone.glb: there is no such file"),
        (HERO + '[labels]\na = ["none/*.glb"]', "no file matches 'none/\\*.glb'"),
        (HERO + "rate = 0\n" + LABELS, "rate should be a finite number above zero"),
        (HERO + 'rate = "fast"\n' + LABELS, "rate should be a finite number above zero"),
        (HERO + 'exclude = "hand"\n' + LABELS, "exclude should be a list of texts"),
        (HERO + 'exclude = ["ears.*"]\n' + LABELS, "'ears.\\*' should be kept out of learning, but no channel"),
        (HERO + "speed = 3\n" + LABELS, "there is no key 'speed'; available: 'character', 'rate'"),
        (HERO + LABELS + '[poses]\nx = "Walk@soon"', "pose 'x' should be clip@seconds, but is 'Walk@soon'"),
        (HERO + LABELS + '[poses]\nx = "Walk@9"', "pose 'x' should lie within its clip, 0 to 0.79.* but is at 9 s"),
        (HERO + LABELS + '[poses]\nx = "*@0"', "pose 'x' should name one clip, but '\\*' matches 3"),
        (HERO + LABELS + '[poses]\nx = "Gone@0"', "there is no clip 'Gone'"),
        (HERO + LABELS + "[poses]\nx = 3", "pose 'x' should be a text, but is 3"),
    ],
)
def test_mistakes_name_the_file_and_what_was_meant(folder: Path, text: str, said: str) -> None:
    with pytest.raises(BadFile, match=said) as caught:
        read(folder, text)
    assert "\n" not in str(caught.value)


def test_no_such_file_and_too_much_of_everything(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadFile, match="there is no such file"):
        read_library(folder / "none.toml")
    monkeypatch.setattr(library_file, "MAX_FILES", 1)
    with pytest.raises(BadFile, match="at most 1 files"):
        read(folder, HERO + '[labels]\na = ["moves/*.glb"]')
    monkeypatch.setattr(library_file, "MAX_ENTRIES", 2)
    with pytest.raises(BadFile, match="at most 2 clips"):
        read(folder, HERO + '[labels]\na = ["*"]')
    monkeypatch.setattr(library_file, "MAX_FILE_BYTES", 10)
    with pytest.raises(BadFile, match="at most 10 are read"):
        read(folder, HERO + LABELS)


def test_captured_motion_of_several_files(tmp_path: Path) -> None:
    first = data_file("bvh_cmu/79_69.bvh")
    text = f'character = "{first.as_posix()}"\n[labels]\nact = ["{first.parent.as_posix()}/79_7*.bvh", "79_69"]'
    (tmp_path / "cmu.toml").write_text(text, encoding="utf-8")
    library = read_library(tmp_path / "cmu.toml")
    assert [take.clip for take in library.takes] == ["79_70", "79_71", "79_72", "79_69"]
    assert library.rate == 30
    assert any("inserted pose" in note for note in library.notes)


def test_behaviours_are_told(folder: Path) -> None:
    """What the file tells holds, whatever the motion looks like; the later of two lines wins."""
    library = read(
        folder,
        HERO
        + """
        [behaviours]
        "*" = "act"
        Walk = { kind = "cycle", from = 0.25, to = 0.75, speed = 1.5 }
        Run = { ends = "stay" }
        Cheer = "ignore"
        """,
    )
    assert library.labels == ("Walk", "Run")
    walk, run = library.behaviours["Walk"], library.behaviours["Run"]
    assert (walk.kind, walk.start, walk.stop, walk.period, walk.speed) == ("cycle", 0.25, 0.75, 0.5, 1.5)
    assert (run.kind, run.stays, run.certainty) == ("act", True, 1.0)
    returns = read(folder, HERO + '[behaviours]\nWalk = { kind = "act", returns = "Run" }')
    assert returns.behaviours["Walk"].returns == "Run"


def test_without_labels_each_clip_is_one(folder: Path) -> None:
    assert read(folder, HERO).labels == ("Walk", "Run", "Cheer")
