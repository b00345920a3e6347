from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.learned import lamp_model, lamp_rig

from understudy import cast, storage
from understudy.character import rig
from understudy.errors import BadFile, InvalidInput
from understudy.perform.behaviours import Behaviour
from understudy.perform.model import PerformanceModel, check_character


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "lamp.understudy"
    lamp_model().save(path)
    return path


def test_saved_and_loaded(saved: Path) -> None:
    model, again = lamp_model(), PerformanceModel.load(saved)
    assert again.labels == model.labels
    assert again.cast == "lamp"
    assert again.rate == model.rate
    for label, space in model.spaces.items():
        assert np.array_equal(again.spaces[label].features_of(space.latents), space.features_of(space.latents))
    for pair, other in zip(model.bridges, again.bridges):
        assert np.array_equal(pair.gaps, other.gaps)
        assert (pair.first, pair.second, pair.wide) == (other.first, other.second, other.wide)
    row = lamp_rig().rest[None]
    assert np.array_equal(again.encoder.encode(row), model.encoder.encode(row))


def test_the_same_model_is_the_same_file(saved: Path, tmp_path: Path) -> None:
    PerformanceModel.load(saved).save(tmp_path / "again.understudy")
    assert (tmp_path / "again.understudy").read_bytes() == saved.read_bytes()


def test_every_label_is_reached_from_every_other() -> None:
    model = lamp_model()
    for start in model.labels:
        for goal in model.labels:
            way = start
            for bridges in model.route(start, goal):
                way = bridges.other(way)
            assert way == goal


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file(saved: Path, tmp_path: Path, share: float) -> None:
    cut = tmp_path / "cut.understudy"
    data = saved.read_bytes()
    cut.write_bytes(data[: int(share * len(data))])
    with pytest.raises(BadFile, match=r"cut\.understudy"):
        PerformanceModel.load(cut)


@pytest.mark.parametrize("damage", ["no space", "short metric", "nan", "wrong label", "segments"])
def test_a_damaged_file(saved: Path, tmp_path: Path, damage: str) -> None:
    header, arrays = storage.read(saved)
    if damage == "no space":
        header["spaces"] = []
    elif damage == "short metric":
        arrays["metric"] = arrays["metric"][:-1]
    elif damage == "nan":
        arrays["space0.latents"] = np.full_like(arrays["space0.latents"], np.nan)
    elif damage == "wrong label":
        header["bridges"][0][0] = "elsewhere"
    else:
        header["spaces"][0]["segments"][0][2] += 1
    path = tmp_path / "bad.understudy"
    storage.write(path, header, arrays)
    with pytest.raises(BadFile, match=r"bad\.understudy: is a damaged model: "):
        PerformanceModel.load(path)


def test_clips_by_name() -> None:
    label, segment = lamp_model().clip("sad")
    assert (label, segment.clip) == ("sad", "sad")
    with pytest.raises(InvalidInput, match="there is no clip 'glad'; available: 'hop'"):
        lamp_model().clip("glad")


def test_a_model_of_another_character() -> None:
    penguin = rig.rig_of(cast.load("penguin").character())
    with pytest.raises(InvalidInput, match="the model was learned from another character: 'penguin' lacks 'Root"):
        check_character(lamp_model(), penguin.channels, "penguin")


def test_behaviours_are_saved(tmp_path: Path) -> None:
    told = {"hop": Behaviour("act", 0.7, stop=2.0, returns="sad", stays=True), "sad": Behaviour("cycle", period=5.5)}
    model = replace(lamp_model(), behaviours=told)
    model.save(tmp_path / "lamp.understudy")
    assert PerformanceModel.load(tmp_path / "lamp.understudy").behaviours == told


def test_a_file_without_behaviours_is_hovered_in(saved: Path, tmp_path: Path) -> None:
    header, arrays = storage.read(saved)
    del header["behaviours"]
    storage.write(tmp_path / "old.understudy", header, arrays)
    model = PerformanceModel.load(tmp_path / "old.understudy")
    assert model.behaviours == {}
    assert {model.label_behaviour(label)[1].kind for label in model.labels} == {"hover"}
