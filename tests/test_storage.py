"""Laws of the `.understudy` container: what goes in comes out, and damage is told in one sentence."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy import storage
from understudy.errors import BadFile, InvalidInput
from understudy.storage import Field

ARRAYS = {
    "space0.latents": np.random.default_rng(1).normal(size=(40, 3)),
    "learned": np.array([True, False]),
    "features": np.arange(12, dtype=np.float32).reshape(3, 4),
    "turned": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "nothing": np.zeros((0, 5)),
    "number": np.array(3.5),
    "bytes": np.frombuffer(b"glTF", np.uint8),
}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "a.understudy"
    storage.write(path, {"labels": ["happy", "grün"], "rate": 24.0}, ARRAYS)
    return path


def test_comes_back(written: Path) -> None:
    header, arrays = storage.read(written)
    assert header == {"labels": ["happy", "grün"], "rate": 24.0}
    assert list(arrays) == list(ARRAYS)
    for name, value in ARRAYS.items():
        assert arrays[name].dtype == value.dtype
        np.testing.assert_array_equal(arrays[name], value)
        assert not arrays[name].flags.writeable


def test_the_same_content_is_the_same_file(written: Path, tmp_path: Path) -> None:
    storage.write(tmp_path / "b.understudy", {"labels": ["happy", "grün"], "rate": 24.0}, ARRAYS)
    assert written.read_bytes() == (tmp_path / "b.understudy").read_bytes()


def test_the_header_can_be_read_alone(written: Path) -> None:
    assert storage.read_header(written) == storage.read(written)[0]


def test_other_programs_can_read_the_arrays(written: Path) -> None:
    with np.load(written) as others:
        np.testing.assert_array_equal(others["features"], ARRAYS["features"])


@settings(max_examples=60, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
def test_cut_short_it_is_refused(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    whole = tmp_path_factory.mktemp("whole") / "a.understudy"
    storage.write(whole, {"rate": 24}, ARRAYS)
    data = whole.read_bytes()
    whole.write_bytes(data[: int(share * len(data))])
    with pytest.raises(BadFile, match="is not an understudy file, or is cut short"):
        storage.read(whole)


@settings(max_examples=80, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), value=st.integers(0, 255))
def test_a_changed_byte_is_refused_or_does_no_harm(
    tmp_path_factory: pytest.TempPathFactory, place: float, value: int
) -> None:
    path = tmp_path_factory.mktemp("changed") / "a.understudy"
    storage.write(path, {"rate": 24}, ARRAYS)
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] = value
    path.write_bytes(data)
    try:
        _, arrays = storage.read(path)
    except BadFile as error:
        assert "\n" not in str(error)
    else:
        for name in set(arrays) & set(ARRAYS):  # the name itself may have changed
            np.testing.assert_array_equal(arrays[name], ARRAYS[name])


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 99),
    frames=st.integers(1, 40),
    size=st.floats(1e-6, 1e3),
    offset=st.sampled_from([0.0, 1.0, -4e3]),
)
def test_packed_frames_are_off_by_half_a_step_at_most(seed: int, frames: int, size: float, offset: float) -> None:
    rng = np.random.default_rng(seed)
    motion = (offset + size * np.cumsum(rng.normal(size=(frames, 5)), axis=0)).astype(np.float32)
    motion[:, 2] = 0.25  # a column that does not move
    packed = storage.pack_frames(motion)
    again = storage.unpack_frames(packed)
    half_step = np.ptp(motion, axis=0).astype(float) / storage.PACKED_STEPS / 2
    rounding = np.abs(motion).max(axis=0) * np.finfo(np.float32).eps
    assert (
        again.dtype == np.float32 and (np.abs(again - motion.astype(float)).max(axis=0) <= half_step + rounding).all()
    )
    assert np.array_equal(again[:, 2], motion[:, 2])
    assert np.array_equal(storage.unpack_frames(storage.pack_frames(again)), again)  # nothing is lost twice


def test_packed_frames_that_do_not_fit_are_refused() -> None:
    packed = storage.pack_frames(np.zeros((4, 3), np.float32))
    for name, value in (
        ("codes", packed["codes"][:, :2]),
        ("codes", packed["codes"].astype(np.uint16)),
        ("range", packed["range"] * np.nan),
    ):
        with pytest.raises(InvalidInput):
            storage.unpack_frames({**packed, name: value})


def test_a_compressed_file_holds_the_same(written: Path, tmp_path: Path) -> None:
    header, arrays = storage.read(written)
    for name in ("c.understudy", "d.understudy"):
        storage.write(tmp_path / name, header, {**arrays, "even": np.zeros(9000)}, compressed=True)
    again = storage.read(tmp_path / "c.understudy")[1]
    assert all(np.array_equal(again[name], value) for name, value in arrays.items())
    assert (tmp_path / "c.understudy").stat().st_size < 9000
    assert (tmp_path / "c.understudy").read_bytes() == (tmp_path / "d.understudy").read_bytes()


def rewritten(path: Path, header: object) -> Path:
    with zipfile.ZipFile(path, "w") as archived:
        archived.writestr("header.json", header if isinstance(header, (str, bytes)) else json.dumps(header))
    return path


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"format": "understudy", "version": 3}, "was written by a newer understudy"),
        ({"format": "understudy", "version": 0}, "should have a version of 1 to 2, but has 0"),
        ({"format": "understudy"}, "should have a version"),
        ({"format": "understudy", "version": True}, "should have a version"),
        ({"format": "other", "version": 1}, "is not an understudy file"),
        ([1, 2], "is not an understudy file"),
        ("{", "is not an understudy file"),
        (b"\xff\xfe", "is not an understudy file"),
        ("[" * 100_000, "is not an understudy file"),
        ('{"format": "understudy", "version": 1, "rate": Infinity}', "is not an understudy file"),
        ('{"format": "understudy", "version": 1, "rate": 1e999}', "is not an understudy file"),
        ('{"format": "understudy", "version": 1, "home": %s}' % ("9" * 400), "is not an understudy file"),
    ],
)
def test_foreign_headers_are_refused(tmp_path: Path, header: object, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        storage.read(rewritten(tmp_path / "x.understudy", header))


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "plain.npz", a=np.zeros(3))
    (tmp_path / "text").write_text("hello")
    for name, said in (("plain.npz", "not an understudy"), ("text", "not an understudy"), ("none", "no such file")):
        with pytest.raises(BadFile, match=said):
            storage.read(tmp_path / name)
    with pytest.raises(BadFile, match="is a folder"):
        storage.read(tmp_path)


def test_a_header_beyond_all_bounds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "MAX_HEADER_BYTES", 1000)
    path = rewritten(tmp_path / "x.understudy", {"format": "understudy", "version": 1, "a": "b" * 1000})
    with pytest.raises(BadFile, match="at most 1,000 are read"):
        storage.read(path)


def test_a_failed_write_leaves_the_old_file(written: Path) -> None:
    before = written.read_bytes()
    with pytest.raises(InvalidInput, match="should hold plain numbers"):
        storage.write(written, {}, {"a": np.array([object()])})
    with pytest.raises(ValueError, match="JSON"):
        storage.write(written, {"rate": float("nan")}, {})
    assert written.read_bytes() == before
    assert list(written.parent.iterdir()) == [written]


FIELDS = {"a": Field("f", ("N", 3)), "b": Field("i", ("N",)), "c": Field("b", ("E", "N"))}
SOUND = {"a": np.zeros((4, 3), np.float32), "b": np.zeros(4, np.int32), "c": np.zeros((2, 4), bool)}


def test_arrays_are_those_that_are_declared() -> None:
    found = storage.check_arrays("m.understudy", {**SOUND, "more": np.zeros(2)}, FIELDS, {"E": 2})
    assert set(found) == set(FIELDS)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("a", None, "should have the array 'a'"),
        ("a", np.zeros((4, 2)), r"'a' should have shape \(N, 3\), but has \(4, 2\)"),
        ("a", np.zeros((5, 3)), r"'b' should have shape \(5\), but has \(4,\)"),
        ("a", np.full((4, 3), np.inf), "'a' should be finite"),
        ("a", np.zeros((4, 3), int), "'a' should hold numbers of kind 'f'"),
        ("b", np.zeros((4, 1), int), r"'b' should have shape"),
        ("c", np.zeros((3, 4), bool), r"'c' should have shape \(2, 4\)"),
    ],
)
def test_arrays_that_are_not_as_declared_are_refused(name: str, value: np.ndarray | None, said: str) -> None:
    arrays = {key: array for key, array in {**SOUND, name: value}.items() if array is not None}
    with pytest.raises(BadFile, match=f"m.understudy: .*{said}"):
        storage.check_arrays("m.understudy", arrays, FIELDS, {"E": 2})


def test_one_letter_is_one_size() -> None:
    with pytest.raises(BadFile, match="one size for N"):
        storage.check_arrays("m", {"a": np.zeros((2, 3))}, {"a": Field("f", ("N", "N"))})
