"""Warming up: best effort, and what failed is said."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import httpx2
import pytest

from firstword.app import create_kept_app
from firstword.serving import serving, until_ready
from firstword.settings import load_settings
from models import default_folder

pytestmark = [pytest.mark.models, pytest.mark.timeout(120)]


async def test_a_model_that_cannot_be_warmed_is_named_and_the_rest_is_ready(tmp_path: Path) -> None:
    weights = tmp_path / "models"
    weights.mkdir()
    for folder in default_folder().iterdir():
        (weights / folder.name).symlink_to(folder)
    broken = weights / "smollm2-135m"
    whole = broken.resolve()
    broken.unlink()
    shutil.copytree(whole, broken)
    gguf = broken / "model.gguf"
    size_bytes = gguf.stat().st_size
    gguf.write_bytes(b"")
    os.truncate(gguf, size_bytes)  # as long as it should be, and all zeros
    settings = load_settings(single_user=True, data=tmp_path / "data", models=weights)
    async with serving(lambda base_url: create_kept_app(settings, base_url)) as base_url:
        await until_ready(base_url, limit_s=60.0)
        async with httpx2.AsyncClient(trust_env=False) as client:
            state = (await client.get(f"{base_url}/readyz")).json()
    assert state["ready"]
    assert state["loading"] == []
    (fault,) = state["faults"]
    assert fault.startswith("the language model could not be warmed: ")
    assert "model.gguf" in fault
