# Every target makes the virtual environment that it needs; PYTHON is any Python from 3.11 on.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BENCH ?= .venv-bench
DATA ?= ../shared/data

.PHONY: demo test test-all gpu-test gpu-bench lint docs bench bench-quick fuzz coverage mutants clean

demo: $(VENV)/.cli
	$(BIN)/mercer demo --out build/demo

# Every package, without what is slow or a page.
test: $(VENV)/.test
	$(BIN)/python -m pytest --numprocesses=2 --dist=worksteal -m "not slow" tests src

# Everything, the examples of the documentation among it, and what a graphics card runs, by PyTorch on the cores.
test-all: $(VENV)/.test $(VENV)/.gpu-test
	$(BIN)/python -m pytest --numprocesses=2 --dist=worksteal

# On a machine with a graphics card, in an environment that has PyTorch for it: laws, generated code, learners; the log
# is benchmarks/results/gpu-test.log.
gpu-test:
	$(PYTHON) benchmarks/gpu_tests.py

gpu-bench:
	PYTHONPATH=src $(PYTHON) benchmarks/gpu.py --data $(DATA)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/docs/words.py

# The pages, in build/docs/index.html; every warning is an error, and nothing is fetched.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs

# All benchmarks against all peers, and the page of the documentation: hours, on a machine that does nothing else. DATA is
# a folder of real tables; without it, parts that need them are left out and named.
bench: $(BENCH)/.peers
	$(BENCH)/bin/python benchmarks/suite.py --data $(DATA) --page

bench-quick: $(BENCH)/.peers
	$(BENCH)/bin/python benchmarks/suite.py --data $(DATA) --quick

# The property tests again, with many more examples; fits and saves that are killed more often; and files that are
# changed to do harm: a million models, of which some are asked for predictions, and tables of every format; random texts
# of kernels; and random command lines with files of all kinds.
fuzz: $(VENV)/.test
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest tests -k "property or killed"
	$(BIN)/python benchmarks/fuzz_files.py --count 1000000
	$(BIN)/python benchmarks/fuzz_files.py --count 100000 --seed 1 --use
	$(BIN)/python benchmarks/fuzz_tables.py --count 20000
	$(BIN)/python benchmarks/fuzz_texts.py --count 100000
	$(BIN)/python benchmarks/fuzz_command.py --count 20000

# Lines that the tests reach: docs/testing.md. The loops of a formula are generated text, and are not counted.
coverage: $(VENV)/.coverage
	$(BIN)/python -m pytest --numprocesses=2 --dist=worksteal --cov --cov-report=term --cov-fail-under=95

# The code is changed in small ways, and the tests should notice; then once with nothing changed.
mutants: $(VENV)/.coverage
	for area in kernels proof solvers loader; do $(BIN)/python benchmarks/code_mutants.py $$area --count 300 || exit 1; done
	$(BIN)/python benchmarks/code_mutants.py solvers --count 40 --control

clean:
	rm -rf $(VENV) $(BENCH) build dist docs/auto_gallery docs/reference/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Mercer needs Python 3.11 or newer; set PYTHON=..."'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.cli $(VENV)/.test $(VENV)/.lint $(VENV)/.docs $(VENV)/.coverage $(VENV)/.gpu-test: $(VENV)/.%: pyproject.toml src/mercer/version.py | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	touch $@

# The peers are installed one by one: one that fails is in the record, and takes no other with it.
$(BENCH)/.peers: pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Mercer needs Python 3.11 or newer; set PYTHON=..."'
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[cli]"
	$(BENCH)/bin/python benchmarks/peers.py --install
	touch $@
