"""Settings of the property tests: the same examples in every run of `make test`, many more in `make fuzz`."""

import os

from hypothesis import HealthCheck, settings

quiet = [HealthCheck.too_slow]
settings.register_profile("short", deadline=None, derandomize=True, max_examples=60, suppress_health_check=quiet)
settings.register_profile("long", deadline=None, max_examples=3000, suppress_health_check=quiet)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))
