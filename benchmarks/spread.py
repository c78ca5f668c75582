"""Medians and percentiles of a handful of measurements. Pure; the one rule: too few values give None, not a guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def spread(values_ms: Sequence[float]) -> dict[str, Any]:
    """`n`, `p50`, `p95`, `min` and `max` in milliseconds, rounded to 0.1; None for each where there are no values."""
    if not values_ms:
        return {"n": 0, "p50": None, "p95": None, "min": None, "max": None}
    p50, p95 = np.percentile(np.asarray(values_ms, dtype=np.float64), [50, 95])
    return {
        "n": len(values_ms),
        "p50": round(float(p50), 1),
        "p95": round(float(p95), 1),
        "min": round(min(values_ms), 1),
        "max": round(max(values_ms), 1),
    }
