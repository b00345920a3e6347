"""Building the page: only what has changed, and a clear word where there is nothing to build."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import build_page


def test_without_a_page_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build_page.build(tmp_path, tmp_path / "static") is False
    assert "not built" in capsys.readouterr().err and not (tmp_path / "static").exists()


def test_it_knows_when_something_has_changed(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.ts").write_text("1")
    before = build_page.fingerprint(tmp_path)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "x.js").write_text("x")
    (tmp_path / ".install.lock").write_text("")
    assert build_page.fingerprint(tmp_path) == before
    (tmp_path / "src" / "main.ts").write_text("2")
    assert build_page.fingerprint(tmp_path) != before
    (tmp_path / "src" / "main.ts").write_text("1")
    (tmp_path / "src" / "main.ts").rename(tmp_path / "src" / "other.ts")
    assert build_page.fingerprint(tmp_path) != before


def test_what_is_up_to_date_is_not_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web, static = tmp_path / "web", tmp_path / "static"
    web.mkdir()
    (web / "package-lock.json").write_text("{}")
    built: list[list[str]] = []

    def node(place: Path, arguments: list[str]) -> None:
        made(Path(arguments[arguments.index("--outDir") + 1]), "page")
        built.append(arguments)

    monkeypatch.setattr(build_page, "install", lambda place: None)
    monkeypatch.setattr(build_page, "_node", node)
    assert [build_page.build(web, static) for _ in range(2)] == [True, False]
    (web / "index.html").write_text("new")
    assert build_page.build(web, static) and len(built) == 4
    assert ["vite.viewer.config.ts" in arguments for arguments in built] == [False, True] * 2


def made(folder: Path, name: str) -> Path:
    """A page of two files, as vite leaves one."""
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    (folder / "assets" / f"{name}.js").write_text(name)
    (folder / "index.html").write_text(f"{name}.js")
    return folder


def test_a_new_page_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    static = made(tmp_path / "static", "old")
    build_page.place(made(tmp_path / "made", "new"), static)
    assert (static / "index.html").read_text() == "new.js"
    assert [path.name for path in (static / "assets").iterdir()] == ["new.js"]


@pytest.mark.parametrize("moved", range(2))
def test_a_build_that_is_killed_leaves_a_whole_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: int
) -> None:
    static, left = made(tmp_path / "static", "old"), [moved]

    def replace(source: Path, target: Path) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        source.rename(target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        build_page.place(made(tmp_path / "made", "new"), static)
    name = (static / "index.html").read_text()
    assert name == "old.js" and (static / "assets" / name).read_text() == "old"


def test_a_build_that_makes_nothing_changes_nothing(tmp_path: Path) -> None:
    static, empty = made(tmp_path / "static", "old"), tmp_path / "made"
    empty.mkdir()
    with pytest.raises(RuntimeError, match=r"index\.html"):
        build_page.place(empty, static)
    assert (static / "assets" / "old.js").is_file()
