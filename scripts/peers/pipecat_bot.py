"""Pipecat with local models behind a WebSocket of plain PCM, for `firstword bench peers`.

    pipecat_bot.py SETTINGS_JSON

Everything is Pipecat's own: transport, Silero, Smart Turn, Whisper, OpenAI service, Piper. Only the serializer is
ours, so that every system is asked over the same wire: 16 kHz s16 in, 24 kHz s16 out, and
`{"clear": true}` on an interruption.
"""

import asyncio
import json
import sys
from pathlib import Path

from loguru import logger
from pipecat.audio.turn.smart_turn.base_smart_turn import SmartTurnParams
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import InputAudioRawFrame, InterruptionFrame, OutputAudioRawFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.serializers.base_serializer import FrameSerializer
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transports.websocket.server import (
    SingleClientWebsocketServerParams,
    SingleClientWebsocketServerTransport,
)
from pipecat.turns.user_stop import TurnAnalyzerUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.utils.text.markdown_text_filter import MarkdownTextFilter
from pipecat.workers.runner import WorkerRunner


class PlainPcm(FrameSerializer):
    async def serialize(self, frame):
        if isinstance(frame, OutputAudioRawFrame):
            return frame.audio
        if isinstance(frame, InterruptionFrame):
            return json.dumps({"clear": True})
        return None

    async def deserialize(self, data):
        return InputAudioRawFrame(audio=data, sample_rate=16_000, num_channels=1) if isinstance(data, bytes) else None


async def main(told: dict) -> None:
    logger.remove()
    logger.add(sys.stderr, level="WARNING")
    transport = SingleClientWebsocketServerTransport(
        params=SingleClientWebsocketServerParams(
            serializer=PlainPcm(), audio_in_enabled=True, audio_out_enabled=True, **told["transport"]
        ),
        host="127.0.0.1",
        port=told["port"],
    )
    folder = Path(told["voice"])
    filters = {"text_filters": [MarkdownTextFilter()]} if told["filter_markdown"] else {}
    voice = PiperTTSService(download_dir=folder, settings=PiperTTSService.Settings(voice="voice"), **filters)
    recogniser = WhisperSTTService(
        device="cpu", compute_type="int8", settings=WhisperSTTService.Settings(model=told["recogniser"])
    )
    model = OpenAILLMService(base_url=told["llm"], api_key="none", settings=OpenAILLMService.Settings(model="script"))
    strategies = None
    if told["smart_turn_stop_s"] is not None:
        params = SmartTurnParams(stop_secs=told["smart_turn_stop_s"])
        strategies = UserTurnStrategies(
            stop=[TurnAnalyzerUserTurnStopStrategy(turn_analyzer=LocalSmartTurnAnalyzerV3(params=params))]
        )
    context = LLMContextAggregatorPair(
        LLMContext([{"role": "system", "content": "You answer."}]),
        user_params=LLMUserAggregatorParams(
            vad_analyzer=SileroVADAnalyzer(), **({"user_turn_strategies": strategies} if strategies else {})
        ),
    )
    worker = PipelineWorker(
        Pipeline(
            [
                transport.input(),
                recogniser,
                context.user(),
                model,
                voice,
                transport.output(),
                context.assistant(),
            ]
        ),
        idle_timeout_secs=None,
    )
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


asyncio.run(main(json.loads(sys.argv[1])))
