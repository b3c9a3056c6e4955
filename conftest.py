"""What pytest does not look into where an extra is missing."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") and find_spec("triton") else ["src/mercer/backends/cuda/*.py"]
