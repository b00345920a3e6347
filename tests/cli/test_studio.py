"""`studio`: files that are not there are refused before anything is served; the address is printed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path


def test_a_file_that_is_not_there(understudy, tmp_path: Path) -> None:
    code, out, err = understudy("studio", tmp_path / "nobody.glb", "--project", tmp_path / "p")
    assert code == 1 and out == b"" and "no such file" in err
    assert not (tmp_path / "p").exists()


def test_a_port_that_is_taken(understudy, tmp_path: Path) -> None:
    import socket

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, _, err = understudy("studio", "--project", tmp_path / "p", "--port", port)
    assert code == 1 and f"port {port}" in err


def test_a_project_of_a_newer_understudy_is_refused(understudy, tmp_path: Path) -> None:
    (tmp_path / "project.json").write_text('{"version": 9}')
    code, _, err = understudy("studio", "--project", tmp_path)
    assert code == 1 and "project.json" in err and "newer" in err


def test_it_prints_its_address_and_ends_on_request(flag_file: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "understudy", "studio", str(flag_file), "--port", "0"]
    command += ["--project", str(tmp_path / "film"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        address = child.stdout.readline().strip()
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
    assert child.returncode == 0 and "Traceback" not in err
    assert (tmp_path / "film" / "project.json").exists()
