"""Set up Hypothesis (the same examples in every run, no database on disk) and the asserts."""

import pytest
from hypothesis import HealthCheck, settings

# Modules beside the tests that assert for them: their failures show the values, too.
pytest.register_assert_rewrite("admission", "expectations")

settings.register_profile(
    "same-everywhere",
    derandomize=True,
    database=None,
    # A machine that is busy with something else must not fail a test.
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same-everywhere")
