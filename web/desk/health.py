"""Health in one place: models, providers, LiveKit, the database, the disk; and a diagnosis to copy.

It looks and never mends, but for weights, which it fetches when it is asked. The one rule: the diagnosis is made of
what the desk was handed, names and figures, so it can hold no secret, no address and no word that anybody said.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import text

from models import ModelsError
from web.desk.parts import DeskParts

_ANSWER_S = 3.0


class Health:
    """What is asked of the parts. Pulls run in threads, one for each of the weights."""

    def __init__(self, parts: DeskParts) -> None:
        self._parts = parts
        self._pulls: dict[str, dict[str, Any]] = {}
        self._alone = threading.Lock()

    async def look(self) -> dict[str, Any]:
        """Everything at this moment."""
        parts = self._parts
        return {
            "ready": dict(parts.readiness()),
            "models": await asyncio.to_thread(self._models),
            "engines": [
                {"name": each.name, "why_not": each.why_not, "voices": len(each.voices)} for each in parts.engines()
            ],
            "providers": [
                {"name": each.name, "model": each.model, "costs": each.costs, "why_not": each.why_not}
                for each in parts.thinkers()
            ],
            "livekit": dict(parts.livekit()),
            "database": await self._database(),
            "disk": await asyncio.to_thread(self._disk),
            "machine": dict(parts.machine()),
            "refusals": [each.as_json() for each in parts.bots.refusals],
        }

    def pull(self, name: str) -> None:
        """Begin to fetch weights; nothing where that is under way. Raises `CatalogRefused` for no such name."""
        wanted = self._parts.store.catalog[name]
        with self._alone:
            if self._pulls.get(name, {}).get("state") == "fetching":
                return
            self._pulls[name] = {"state": "fetching", "bytes": 0, "total_bytes": wanted.download_bytes, "said": ""}
        threading.Thread(target=self._fetch, args=(name,), name=f"pull-{name}", daemon=True).start()

    def _fetch(self, name: str) -> None:
        told = self._pulls[name]

        def progress(done: int, total: int) -> None:
            told["bytes"], told["total_bytes"] = done, total

        try:
            self._parts.fetch(name, progress)
            told["state"] = "here"
        except ModelsError as fault:
            told.update(state="failed", said=str(fault))
        except Exception as fault:
            told.update(state="failed", said=f"it failed ({type(fault).__name__})")

    def _models(self) -> list[dict[str, Any]]:
        store = self._parts.store
        return [
            {
                "name": each.name,
                "what_for": each.what_for,
                "bytes": each.bytes,
                "licence": each.licence,
                "default": each.default,
                "present": store.present(each.name),
                "pull": self._pulls.get(each.name),
            }
            for each in store.catalog
        ]

    async def _database(self) -> dict[str, Any]:
        database = self._parts.database
        began_s = time.perf_counter()
        told: dict[str, Any] = {"kind": database.dialect, "here": True, "ms": None}
        try:
            async with asyncio.timeout(_ANSWER_S):
                await database.act(lambda db: db.execute(text("SELECT 1")).scalar_one(), reads=True)
            told["ms"] = round((time.perf_counter() - began_s) * 1000, 1)
        except Exception as fault:
            told.update(here=False, said=f"it does not answer ({type(fault).__name__})")
        told["writing"] = "away" if self._parts.kept.scribe.away else "well"
        return told

    def _disk(self) -> list[dict[str, Any]]:
        found = []
        for name, folder in self._parts.folders.items():
            place = Path(folder)
            while not place.exists() and place != place.parent:
                place = place.parent
            usage = psutil.disk_usage(str(place))
            found.append({"what": name, "free_bytes": usage.free, "total_bytes": usage.total})
        return found


def diagnosis(seen: Mapping[str, Any], bots: Sequence[Mapping[str, Any]]) -> str:
    """What was seen as plain text for whoever is asked for help."""
    lines = ["Firstword diagnosis"]
    lines += [f"{name}: {value}" for name, value in seen["machine"].items()]
    lines.append(f"ready: {'yes' if seen['ready'].get('ready') else 'no'}")
    lines += [f"fault: {each}" for each in seen["ready"].get("faults", ())]
    for each in seen["models"]:
        lines.append(f"model {each['name']}: {'here' if each['present'] else 'not here'}")
    for each in seen["engines"]:
        lines.append(f"engine {each['name']}: {each['why_not'] or 'can be had'}")
    for n, each in enumerate(seen["providers"], 1):
        # A provider's name is an address' host: whoever helps need not know it.
        kind = "local" if each["name"] in ("local", "script") else "address"
        lines.append(f"provider {n} ({kind}, model {each['model']}): {each['why_not'] or 'may be asked'}")
    told = seen["database"]
    lines.append(
        f"database: {told['kind']}, {'answers in ' + str(told['ms']) + ' ms' if told['here'] else told['said']}"
    )
    for each in seen["disk"]:
        lines.append(f"disk of {each['what']}: {each['free_bytes'] // 1_000_000} MB free")
    lines += [f"livekit {name}: {value}" for name, value in seen["livekit"].items()] or ["livekit: not configured"]
    for each in bots:
        lines.append(f"bot {each['slug']}: {'can answer' if each['can'] else each['why']}")
    lines += [f"refused: {each['file']}:{each['line']} {each['key']}" for each in seen["refusals"]]
    return "\n".join(lines) + "\n"
