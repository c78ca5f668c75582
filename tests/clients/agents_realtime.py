"""The Agents SDK's realtime client against a live server: agents_realtime.py BASE_URL GRANT. Prints one JSON object.

A typed turn, and a spoken one of push-to-talk: what it heard of the answer, in words and in bytes of sound.
"""

import asyncio
import json
import sys

from agents.realtime import RealtimeAgent, RealtimeRunner

PATIENCE_S = 30


async def main(base_url: str, grant: str) -> None:
    agent = RealtimeAgent(name="Anybody", instructions="The bot's file decides; this is ignored.")
    runner = RealtimeRunner(agent, config={"model_settings": {"model_name": "any", "modalities": ["audio"]}})
    url = base_url.replace("http", "ws", 1) + "/v1/realtime?model=any"
    told = {"audio_bytes": 0, "said": "", "ends": 0, "errors": []}
    async with await runner.run(model_config={"api_key": grant, "url": url}) as session:
        await session.send_message("hi there")
        async with asyncio.timeout(PATIENCE_S):
            async for event in session:
                if event.type == "audio":
                    told["audio_bytes"] += len(event.audio.data)
                elif event.type == "error":
                    told["errors"].append(str(event.error)[-900:])
                elif event.type == "raw_model_event" and event.data.type == "transcript_delta":
                    told["said"] += event.data.delta
                elif event.type == "raw_model_event" and event.data.type == "turn_ended":
                    break
    print(json.dumps(told))


asyncio.run(main(*sys.argv[1:]))
