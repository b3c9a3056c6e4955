"""What all tests share: settings of the property tests, and a cache of compiled code that is not the user's."""

import os
import tempfile

from hypothesis import HealthCheck, settings

quiet = [HealthCheck.too_slow]
settings.register_profile("short", deadline=None, derandomize=True, max_examples=60, suppress_health_check=quiet)
settings.register_profile("long", deadline=None, max_examples=3000, suppress_health_check=quiet)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))


def pytest_configure(config):
    """Keep compiled code in a directory of this run, unless one was chosen; processes that tests start inherit it.

    This is no fixture, since the examples in src are tests as well, and ask no fixtures from here.
    """
    if "MERCER_CACHE_DIR" not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:  # each worker has its own
        folder = tempfile.TemporaryDirectory(prefix="mercer-tests-")
        config.add_cleanup(folder.cleanup)
        os.environ["MERCER_CACHE_DIR"] = folder.name
