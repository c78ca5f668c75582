"""Medians and percentiles of a handful of measurements. Pure; the one rule: too few values give None, not a guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def spread(values_ms: Sequence[float]) -> dict[str, Any]:
    """`n`, quartiles, `p95`, `min` and `max` in milliseconds, rounded to 0.1; None for each where there is no value."""
    if not values_ms:
        return {"n": 0, "p25": None, "p50": None, "p75": None, "p95": None, "min": None, "max": None}
    p25, p50, p75, p95 = np.percentile(np.asarray(values_ms, dtype=np.float64), [25, 50, 75, 95]).tolist()
    return {
        "n": len(values_ms),
        "p25": round(p25, 1),
        "p50": round(p50, 1),
        "p75": round(p75, 1),
        "p95": round(p95, 1),
        "min": round(min(values_ms), 1),
        "max": round(max(values_ms), 1),
    }
