"""LiveKit Agents with local models behind a WebSocket of plain PCM, for `firstword bench peers`.

    livekit_bot.py SETTINGS_JSON

An `AgentSession` without a room: its own Silero, turn detector, interruption handling and OpenAI plugin. Ours are the
wrappers that it asks for around faster-whisper and Piper, and the ends of sound: 16 kHz s16 in, 24 kHz s16 out, and
`{"clear": true}`, `{"hold": true}` and `{"hold": false}` where it clears, pauses and resumes.
No WebRTC: a room comes on top.
"""

import asyncio
import json
import sys
import time

import numpy as np
from faster_whisper import WhisperModel
from livekit import rtc
from livekit.agents import NOT_GIVEN, Agent, AgentSession, inference, stt, tts, utils
from livekit.agents.voice import io
from livekit.plugins import openai
from piper import PiperVoice
from websockets.asyncio.server import serve

IN_HZ, OUT_HZ = 16_000, 24_000


class Whisper(stt.STT):
    def __init__(self, folder: str) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=False, interim_results=False))
        self._model = WhisperModel(folder, device="cpu", compute_type="int8")

    async def _recognize_impl(self, buffer, *, language=NOT_GIVEN, conn_options=None):
        frame = rtc.combine_audio_frames(buffer) if isinstance(buffer, list) else buffer
        samples = np.frombuffer(frame.data, dtype=np.int16).astype(np.float32) / 32768
        if frame.sample_rate != IN_HZ:
            raise ValueError(f"{frame.sample_rate} Hz")

        def hear() -> str:
            segments, _ = self._model.transcribe(samples, language="en")
            return " ".join(segment.text.strip() for segment in segments if segment.no_speech_prob < 0.4)

        text = await asyncio.to_thread(hear)
        return stt.SpeechEvent(
            type=stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[stt.SpeechData(text=text, language="en")]
        )


class Piper(tts.TTS):
    def __init__(self, path: str) -> None:
        self.voice = PiperVoice.load(path)
        rate_hz = self.voice.config.sample_rate
        super().__init__(capabilities=tts.TTSCapabilities(streaming=False), sample_rate=rate_hz, num_channels=1)

    def synthesize(self, text, *, conn_options=None):
        return Said(tts=self, input_text=text, conn_options=conn_options or tts.tts.DEFAULT_API_CONNECT_OPTIONS)


class Said(tts.ChunkedStream):
    async def _run(self, output_emitter) -> None:
        output_emitter.initialize(
            request_id=utils.shortuuid(),
            sample_rate=self._tts.sample_rate,
            num_channels=1,
            mime_type="audio/pcm",
        )
        pieces = self._tts.voice.synthesize(self._input_text)
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            output_emitter.push(piece.audio_int16_bytes)
        output_emitter.flush()


class Microphone(io.AudioInput):
    def __init__(self) -> None:
        super().__init__(label="bench")
        self.frames: asyncio.Queue = asyncio.Queue()

    async def __anext__(self):
        data = await self.frames.get()
        return rtc.AudioFrame(data=data, sample_rate=IN_HZ, num_channels=1, samples_per_channel=len(data) // 2)


class Loudspeaker(io.AudioOutput):
    """Plays in real time on the other side; here it is known when that has happened."""

    def __init__(self, socket) -> None:
        super().__init__(label="bench", capabilities=io.AudioOutputCapabilities(pause=True), sample_rate=OUT_HZ)
        self._socket = socket
        self._out: asyncio.Queue = asyncio.Queue()
        self._pushed_s = self._played_s = 0.0
        self._since: float | None = None
        self._ending: asyncio.Task | None = None
        self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while True:
            await self._socket.send(await self._out.get())

    def _tell(self, **told) -> None:
        self._out.put_nowait(json.dumps(told))

    def _position(self) -> float:
        if self._since is None:
            return self._played_s
        return min(self._pushed_s, self._played_s + time.monotonic() - self._since)

    async def capture_frame(self, frame) -> None:
        await super().capture_frame(frame)
        if self._pushed_s == 0.0:
            self._since = time.monotonic()
            self.on_playback_started(created_at=time.time())
        elif self._since is not None and self._position() >= self._pushed_s:  # it had run dry
            self._played_s, self._since = self._pushed_s, time.monotonic()
        self._pushed_s += frame.duration
        self._out.put_nowait(bytes(frame.data))

    def flush(self) -> None:
        super().flush()
        if self._pushed_s and (self._ending is None or self._ending.done()):
            self._ending = asyncio.create_task(self._end())

    async def _end(self) -> None:
        while (left_s := self._pushed_s - self._position()) > 0:  # noqa: ASYNC110 - what moves is the clock
            await asyncio.sleep(max(0.005, left_s if self._since else 0.02))
        self._over(interrupted=False)

    def clear_buffer(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
        while not self._out.empty():
            self._out.get_nowait()
        self._tell(clear=True)
        if self._pushed_s:
            self._over(interrupted=True)

    def _over(self, *, interrupted: bool) -> None:
        at = self._position()
        self._pushed_s = self._played_s = 0.0
        self._since = None
        self.on_playback_finished(playback_position=at, interrupted=interrupted)

    def pause(self) -> None:
        self._played_s, self._since = self._position(), None
        self._tell(hold=True)

    def resume(self) -> None:
        if self._pushed_s:
            self._since = time.monotonic()
        self._tell(hold=False)


async def main(told: dict) -> None:
    hears, speaks = Whisper(told["recogniser"]), Piper(f"{told['voice']}/voice.onnx")
    model = openai.LLM(model="script", base_url=told["llm"], api_key="none")
    vad = inference.VAD()

    async def converse(socket) -> None:
        session = AgentSession(
            stt=hears, vad=vad, llm=model, tts=speaks, user_away_timeout=None, turn_handling=told["turn_handling"]
        )
        microphone = Microphone()
        session.input.audio = microphone
        session.output.audio = Loudspeaker(socket)
        await session.start(Agent(instructions="You answer."))
        try:
            async for data in socket:
                if isinstance(data, bytes):
                    microphone.frames.put_nowait(data)
        finally:
            await session.aclose()

    async with serve(converse, "127.0.0.1", told["port"], max_size=None):
        await asyncio.Event().wait()


asyncio.run(main(json.loads(sys.argv[1])))
