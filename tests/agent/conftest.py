"""`pytest tests/agent/test_parsing.py --hypothesis-profile=fuzz` gives every parser 25,000 inputs (`make fuzz`)."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fuzz", max_examples=25_000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
