"""A browser, a media server or a model that failed a test gets one more try; every other test has one.

Chromium decodes, draws and plays in real time, LiveKit sends media so, and models hear and speak so: on two cores that
they share, a moment without the processor can look like a fault. A fault of ours fails both times. The one rule:
nothing is hidden; the summary names each test that was run again, and shows how it failed.
"""

from __future__ import annotations

import pytest

PLUGIN = "rerunfailures"


def pytest_configure(config: pytest.Config) -> None:
    # Not in `addopts`: where the plugin is not installed pytest would know no such option.
    config.option.rerun_show_tracebacks = True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.pluginmanager.hasplugin(PLUGIN):
        return
    for item in items:
        in_real_time = any(item.get_closest_marker(name) for name in ("browser", "models"))
        if in_real_time or "livekit_server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=1))
