"""Clients that we did not write and that are not Python: the JavaScript `openai`, and `curl`."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from door_house import WORDS, House, house, until

CLIENTS = Path(__file__).parent.parent / "clients"


async def run(*command: str | Path, cwd: Path | None = None, deadline_s: float = 100) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *map(str, command), cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(deadline_s):
            out, error = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return -1, "", "it took too long"
    return process.returncode or 0, out.decode(), error.decode()


@pytest.fixture(scope="session")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript client in it. Skips in words where it cannot be had."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("node and npm are not on this machine")
    folder = tmp_path_factory.mktemp("javascript")
    install = ("npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", folder, "openai@^6")
    code, _, error = asyncio.run(run(*install, cwd=folder))
    if code:
        pytest.skip(f"npm could not install the openai package: {error.strip()[:200]}")
    shutil.copy(CLIENTS / "door.mjs", folder / "door.mjs")
    return folder


async def test_k9_the_javascript_client(javascript: Path) -> None:
    async with house() as at:
        code, out, error = await run("node", javascript / "door.mjs", at.base_url, at.grant(), cwd=javascript)
        assert code == 0, error
        await until(at.core, lambda: not at.core.running)
    told = json.loads(out)
    assert told.pop("broke").endswith("the provider cut the answer off")
    answer = "".join(WORDS)
    assert told == {
        "plain": answer,
        "streamed": answer,
        "gathered": answer,
        "role": "assistant",
        "usage": 16,
        "refused": 401,
        "models": ["guide"],
    }


async def test_k9_curl() -> None:
    if not shutil.which("curl"):
        pytest.skip("curl is not on this machine")

    async def talk(at: House) -> str:
        code, out, error = await run(CLIENTS / "door.sh", at.base_url, at.grant())
        assert code == 0, error
        return out

    async with house() as at:
        out = await talk(at)
    assert out.startswith("plain\ndata: {")
    assert out.endswith("data: [DONE]\n\n")
