# Two commands do everything on a fresh machine that has Python 3.11 or newer: make demo, make test.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: demo dragon dragon-model face penguin squirrel actor test types setup setup-test system browser judges test-fuzz test-long test-browser test-blender test-numpy1 peers bench requirements clean

demo: setup
	$(BIN)/understudy demo

test: setup-test judges
	$(BIN)/python -m pytest -n 2 --dist loadgroup --ignore tests/studio/e2e -m "not long"

# Whole performances, examples and exports of real characters, which take minutes.
test-long: setup-test judges
	$(BIN)/python -m pytest -n 2 --dist loadgroup --ignore tests/studio/e2e -m long

# All twenty thousand damaged files, of which the tests try every fifth.
test-fuzz: setup-test
	UNDERSTUDY_FUZZ=all $(BIN)/python -m pytest -n 2 --dist loadgroup tests/fuzz

types: setup-test
	$(BIN)/python -m mypy --no-error-summary

setup: system .venv/installed
setup-test: system .venv/installed-test

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "understudy needs Python 3.11 or newer; found $$($(PYTHON) --version). Set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv .venv

# The page of the studio is built by the installation, so it is installed again when the page has changed.
PAGE := $(shell find web -name node_modules -prune -o -type f ! -name '.install*' -print)

.venv/installed: .venv/bin/python pyproject.toml hatch_build.py tools/build_page.py requirements/run.txt $(PAGE)
	$(PIP) install -r requirements/run.txt
	$(PIP) install --no-deps -e .
	@touch $@

.venv/installed-test: .venv/installed requirements/test.txt
	$(PIP) install -r requirements/test.txt
	@touch $@

# A software OpenGL for the pictures. Without it they are drawn by NumPy, slower; so a machine that cannot install it goes on.
system:
	@requirements/system.sh libEGL.so.1:libegl1 libEGL_mesa.so.0:libegl-mesa0 dri/swrast_dri.so:libgl1-mesa-dri

browser:
	@requirements/system.sh chromium/chromium:chromium

# three.js and the glTF validator, for Node from a wheel.
judges: .venv/installed-test
	@$(BIN)/python -m tests.judges.node

# The studio from end to end in a real browser, which draws on the processor here and so wants it for itself.
test-browser: setup-test browser judges
	$(BIN)/python -m pytest tests/studio/e2e

# Blender as a Python module, in an environment of its own (1 GB).
test-blender: setup-test
	@requirements/system.sh libX11.so.6:libx11-6 libXi.so.6:libxi6 libICE.so.6:libice6 libXfixes.so.3:libxfixes3 \
		libXrender.so.1:libxrender1 libSM.so.6:libsm6 libxkbcommon.so.0:libxkbcommon0 libGL.so.1:libgl1
	@$(BIN)/python -m tests.blender.blender
	$(BIN)/python -m pytest tests/blender

# The tests of the arithmetic on the oldest NumPy that is supported, which is the one inside Blender.
NUMPY1 := benchmarks character cli deform edit express formats gp maths perform transfer
test-numpy1: judges
	$(PYTHON) -m venv .venv-numpy1
	.venv-numpy1/bin/python -m pip --disable-pip-version-check -q install -r requirements/numpy1.txt
	UNDERSTUDY_NO_PAGE=1 .venv-numpy1/bin/python -m pip --disable-pip-version-check -q install --no-deps -e .
	.venv-numpy1/bin/python -m pytest -n 2 --dist loadgroup $(wildcard $(NUMPY1:%=tests/%))

# Other people's programs, which the benchmarks run beside ours.
peers: .venv-peers/installed
.venv-peers/installed: requirements/peers.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip --disable-pip-version-check -q install -r requirements/peers.txt
	@touch $@

# The built-in dragon from its code in assets/: the file that the package ships.
dragon: setup
	$(PIP) install -r requirements/sculpt.txt
	$(BIN)/python -m assets.dragon.build

# The dragon's pose model, learned from its clips: the file that the package ships. Again after a change of clips.
dragon-model: setup
	$(BIN)/understudy learn dragon -o src/understudy/cast/models/dragon.understudy

# The built-in face, as the dragon.
face: setup
	$(PIP) install -r requirements/sculpt.txt
	$(BIN)/python -m assets.face.build

# The other bodies of the cast, as the dragon.
penguin squirrel actor: setup
	$(PIP) install -r requirements/sculpt.txt
	$(BIN)/python -m assets.members.build $@

bench: setup peers
	$(BIN)/understudy bench

requirements: setup-test
	$(PIP) install uv
	cd requirements && ./compile.sh

clean:
	rm -rf .venv .venv-* out demo tests/judges/node_modules web/node_modules src/understudy/studio/static
