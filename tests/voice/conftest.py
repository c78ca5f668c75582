"""The server that the tests of this room talk to."""

from __future__ import annotations

import pytest
from voice_house import Serve
from voice_house import serve as serve_house


@pytest.fixture
def serve() -> Serve:
    """Serve a house of fakes on loopback."""
    return serve_house
