# Everything runs in .venv, which these targets make by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# For development: editable, so that only a change of the core needs a new build, and with the faults that tests inject.
INSTALL := $(BIN)/python -m pip install --quiet --no-build-isolation --config-settings=cmake.define.BAYTREE_FAULTS=ON --editable
NATIVE := $(shell find core bindings -name '*.[ch]pp' -o -name CMakeLists.txt -o -name stub.pat) CMakeLists.txt pyproject.toml
CONFIGURE = $(BIN)/cmake -S . -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DBAYTREE_PYTHON=OFF -B
FUZZ := build/fuzz
FUZZ_SECONDS ?= 60
# The newest; Debian has them with their version behind the name.
CLANG ?= $(shell command -v clang++ || ls /usr/bin/clang++-[0-9]* 2>/dev/null | sort -V | tail -n 1)

.DEFAULT_GOAL := help
.PHONY: FORCE help demo gallery test test-slow lint bench sanitize tsan portable dist fuzz fuzz-programs fuzz-tables robustness docs clean compiler

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

compiler:
	@command -v $${CXX:-c++} >/dev/null || { echo "baytree needs a C++20 compiler: install one first (Debian: apt install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install)." >&2; exit 1; }

$(VENV)/pip: | compiler
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.10" "nanobind>=2.4" "setuptools-scm>=8" cmake ninja
	@touch $@

# An editable package knows its modules by name: one that comes, goes or moves has to be told.
$(VENV)/modules: FORCE | $(VENV)/pip
	@find src -name '*.py' | LC_ALL=C sort >$@.now; if cmp -s $@.now $@; then rm $@.now; else mv $@.now $@; fi

$(VENV)/installed: $(VENV)/pip $(VENV)/modules $(NATIVE)
	$(INSTALL) .
	@touch $@

$(VENV)/%-extra: $(VENV)/installed
	$(INSTALL) ".[$*]"
	@touch $@

demo: $(VENV)/installed ## Fit the bundled breast-cancer data and show what was learned
	@$(BIN)/python examples/demo.py

gallery: $(VENV)/test-extra ## Draw the pictures of docs/gallery.md anew
	$(BIN)/python examples/gallery.py docs/assets/gallery

test: $(VENV)/test-extra ## Run the default tests
	$(BIN)/python -m pytest -n auto

test-slow: $(VENV)/test-extra ## Run the slow tests
	$(BIN)/python -m pytest -n auto -m slow

# Types are checked in tests, too, which import what tests do.
lint: $(VENV)/lint-extra $(VENV)/test-extra ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $$(find core bindings -name '*.[ch]pp')

bench: $(VENV)/installed ## Measure speed
	$(BIN)/python -m benchmarks.cart
	$(BIN)/python -m benchmarks.programs
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.subset
	$(BIN)/python -m benchmarks.markov
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.hme

# The header of doctest, where the machine has none: on Debian its package is fetched, which needs no root, and laid into
# build/. CMake says what to do elsewhere.
build/doctest:
	@if ! printf '#include <doctest/doctest.h>\n' | $${CXX:-c++} -E -x c++ - >/dev/null 2>&1 && command -v apt-get >/dev/null; then \
	  mkdir -p build/download && cd build/download && apt-get download doctest-dev && dpkg-deb -x doctest-dev_*.deb ../doctest; \
	fi

sanitize: ## Test the core under the address and undefined-behaviour sanitizers
tsan: ## Test the core under the thread sanitizer
sanitize: SANITIZERS := address,undefined
tsan: SANITIZERS := thread
# Where addresses may be at random places, old thread sanitizers find no room for theirs.
tsan: RUN := $(shell setarch -R true 2>/dev/null && echo setarch -R)
sanitize tsan: $(VENV)/pip build/doctest
	$(CONFIGURE) build/$@ -DBAYTREE_SANITIZE=$(SANITIZERS) -DBAYTREE_TESTS=ON
	$(BIN)/cmake --build build/$@
	$(RUN) $(BIN)/ctest --test-dir build/$@ --output-on-failure --parallel 2

portable: $(VENV)/pip build/doctest ## Test the core as plain C++20, without what GCC and Clang add
	$(CONFIGURE) build/$@ -DBAYTREE_PLAIN=ON -DBAYTREE_TESTS=ON
	$(BIN)/cmake --build build/$@
	$(BIN)/ctest --test-dir build/$@ --output-on-failure --parallel 2

# The wheel is built from the sdist. It is tried where there is neither a compiler nor the repository, and must have no
# faults and give the golden draws.
CLEAN := $(abspath build/clean)
dist: $(VENV)/dist-extra ## Build sdist and wheel into dist/, look into them, and try the wheel in a clean environment
	@rm -rf dist $(CLEAN) && mkdir -p $(CLEAN)/away
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tests/packages/contents.py dist
	$(BIN)/python -m venv $(CLEAN)/venv
	PATH=$(CLEAN)/venv/bin $(CLEAN)/venv/bin/python -m pip install --quiet --only-binary :all: $$(ls dist/*.whl)
	$(CLEAN)/venv/bin/python -c "from baytree import _core; assert not hasattr(_core, 'testing'), 'this wheel has faults'"
	$(CLEAN)/venv/bin/python tests/packages/first_use.py
	cd $(CLEAN)/away && PATH=$(CLEAN)/venv/bin $(CLEAN)/venv/bin/python $(abspath examples/demo.py)
	$(CLEAN)/venv/bin/python tests/equality/fingerprints.py check
	@du -sm $(CLEAN)/venv | sed 's/\t.*/ MB are installed, pip included/'

fuzz: fuzz-programs fuzz-tables ## Throw programs and damaged tables at what reads them, each for FUZZ_SECONDS

fuzz-programs: $(VENV)/pip
	@test -n "$(CLANG)" || { echo "make $@ needs clang++: install it first (Debian: apt install clang)." >&2; exit 1; }
	CXX=$(CLANG) $(CONFIGURE) $(FUZZ) -DBAYTREE_FUZZ=ON
	$(BIN)/cmake --build $(FUZZ)
	mkdir -p $(FUZZ)/found
	$(FUZZ)/core/program_fuzzer -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=20 -dict=core/fuzz/slp.dict \
	  -artifact_prefix=$(FUZZ)/ $(FUZZ)/found core/fuzz/corpus

fuzz-tables: $(VENV)/installed
	$(BIN)/python tests/robustness/fuzz_tables.py $(FUZZ_SECONDS)

# ROBUSTNESS=--short for some of each.
robustness: $(VENV)/test-extra ## Inject faults, damage files, give bad inputs, and print one table of what came of it
	@PYTHONPATH=tests $(BIN)/python -m robustness.report $(ROBUSTNESS)

docs: $(VENV)/docs-extra ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean: ## Remove everything that was built
	rm -rf $(VENV) build dist site .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
