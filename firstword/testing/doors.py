"""A door that answers from a script, in place of the core: an ASGI app with `/v1/chat/completions`.

It speaks the stream that OpenAI's clients read. The one rule: it answers each question with the next script and
keeps what it was asked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse


class ScriptedDoor:
    """`answers` are lists of deltas; a delta of `...` waits until `go` is set, and `!` breaks the stream off."""

    def __init__(self, *answers: Sequence[str], status: int = 200) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.grants: list[str] = []
        self.left = 0
        self.go = asyncio.Event()
        self._status = status
        self.app = FastAPI()
        self.app.post("/v1/chat/completions")(self._complete)

    async def _complete(self, request: Request) -> Any:
        self.asked.append(await request.json())
        self.grants.append(request.headers.get("authorization", "").removeprefix("Bearer "))
        if self._status != 200:
            return JSONResponse({"error": {"message": "no more today"}}, status_code=self._status)
        answer = self.answers.pop(0) if self.answers else ["I have nothing more to say."]
        return StreamingResponse(self._stream(answer), media_type="text/event-stream")

    async def _stream(self, answer: Sequence[str]) -> AsyncIterator[str]:
        finished = False
        try:
            yield _chunk({"role": "assistant", "content": ""})
            for delta in answer:
                if delta == "...":
                    await self.go.wait()
                elif delta == "!":
                    yield 'data: {"error":{"message":"the model fell over"}}\n\ndata: [DONE]\n\n'
                    finished = True
                    return
                else:
                    yield _chunk({"content": delta})
            trace = {"provider": "script", "model": "script", "run": "run-1"}
            yield f"data: {json.dumps({'choices': [], 'firstword': {'trace': trace}})}\n\n"
            yield f"data: {json.dumps({'choices': [], 'usage': {'prompt_tokens': 7, 'completion_tokens': 5}})}\n\n"
            finished = True
            yield "data: [DONE]\n\n"
        finally:
            self.left += not finished


def _chunk(delta: dict[str, str]) -> str:
    return f"data: {json.dumps({'id': 'c', 'choices': [{'index': 0, 'delta': delta, 'finish_reason': None}]})}\n\n"
