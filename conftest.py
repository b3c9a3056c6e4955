"""What pytest does not look into: what tests of a card share, and code whose extra is missing."""

from importlib.util import find_spec

SHARED = "cuda_cases.py", "cuda_here.py", "cuda_ptx.py", "cuda_words.py", "interpret.py"
collect_ignore_glob = [f"tests/backends/cuda/{name}" for name in SHARED]
if not (find_spec("torch") and find_spec("triton")):
    collect_ignore_glob.append("src/mercer/backends/cuda/*.py")
