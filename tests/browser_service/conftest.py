"""The service is tested on the same web site as the driver."""

from tests.browser.conftest import site

__all__ = ["site"]
