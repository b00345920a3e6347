"""The command as a whole: help, version, completion, misspelt words, start without heavy imports."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from understudy import __version__, cast
from understudy.cli.app import VERBS

HEAVY = ("numpy", "scipy", "numba", "moderngl", "av", "PIL", "pxr", "rich")


def test_help_and_version(understudy) -> None:
    code, out, _ = understudy("--help")
    assert code == 0 and all(verb in out.decode() for verb in VERBS)
    assert "..." not in out.decode().partition("Commands:")[2], "what a verb does is cut off"
    assert understudy("--version")[1].decode().split()[-1] == __version__


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(understudy, verb: str) -> None:
    code, out, _ = understudy(verb, "--help")
    assert code == 0 and out.startswith(b"Usage: understudy " + verb.encode())


def test_misspelt_commands_exit_with_two(understudy) -> None:
    assert understudy("inform")[0] == 2
    assert understudy("info")[0] == 2
    assert understudy("info", "x", "--colour")[0] == 2
    assert "No such command 'inof' (did you mean 'info'?)" in understudy("inof", "x")[2]


def test_help_names_every_built_in_character(understudy) -> None:
    words = understudy("--help")[1].decode().partition("Options:")[0]
    assert all(name in words for name in cast.names())


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes of POSIX")
def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, "-m", "understudy", "info", "dragon", "--controls"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(understudy, shell: str) -> None:
    code, out, _ = understudy("completion", shell)
    assert code == 0 and b"_UNDERSTUDY_COMPLETE" in out


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("from understudy.cli.app import run; run(['--help'])", ()),
        ("import understudy.formats, understudy.character.rig", ("numpy",)),
    ],
)
def test_heavy_imports_only_where_used(statement: str, allowed: tuple[str, ...]) -> None:
    code = f"import sys\n{statement}\nprint('loaded', *[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split()[1:])
    assert loaded <= set(allowed)


def test_module_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "understudy", "--version"], capture_output=True, text=True, check=True)
    assert __version__ in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_a_terminated_command_leaves_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "laugh.mp4"
    command = [sys.executable, "-m", "understudy", "render", "dragon", "--clip", "happy_laugh", "-o", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        while child.poll() is None and not list(tmp_path.iterdir()):
            time.sleep(0.02)
        child.send_signal(signal.SIGTERM)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 143 and "terminated" in err and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_errors_that_were_not_foreseen_are_one_sentence(understudy, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OverflowError("cannot convert float infinity to integer")

    monkeypatch.setattr("understudy.formats.read", fail)
    monkeypatch.setattr("understudy.cast.load", fail)
    code, _, err = understudy("info", "lamp")
    assert code == 1 and err.startswith(
        "error: this failed in a way that was not foreseen: OverflowError in test_app.py"
    )
    assert len(err.splitlines()) == 1
    monkeypatch.setenv("UNDERSTUDY_TRACEBACK", "1")
    with pytest.raises(OverflowError):
        understudy("info", "lamp")
