"""LiveKit Agents' OpenAI plugin against a live door: livekit_llm.py BASE_URL GRANT. Prints one JSON object."""

import asyncio
import json
import sys

from livekit.agents import llm
from livekit.plugins import openai


async def main(base_url: str, grant: str) -> None:
    model = openai.LLM(base_url=f"{base_url}/v1", api_key=grant, model="any")
    told = {"streamed": "", "usage": 0}
    context = llm.ChatContext.empty()
    context.add_message(role="user", content="hi")
    async with model.chat(chat_ctx=context) as stream:
        async for chunk in stream:
            if chunk.delta and chunk.delta.content:
                told["streamed"] += chunk.delta.content
            if chunk.usage:
                told["usage"] = chunk.usage.total_tokens
    await model.aclose()
    print(json.dumps(told))


asyncio.run(main(*sys.argv[1:]))
