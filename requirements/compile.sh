#!/bin/sh
# Pin everything that the project's own commands install. The result names no package index.
set -eu
compile() { ../.venv/bin/uv pip compile -q --universal --no-emit-index-url --no-emit-find-links --no-header --no-annotate --python-version 3.11 "$@"; }
compile ../pyproject.toml -o run.txt
compile -c run.txt test.in -o test.txt
compile -c run.txt --extra sculpt ../pyproject.toml -o sculpt.txt
compile numpy1.in -o numpy1.txt
