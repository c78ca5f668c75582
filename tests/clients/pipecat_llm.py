"""Pipecat's OpenAI service against a live door: pipecat_llm.py BASE_URL GRANT. Prints one JSON object.

`plain` is an inference beside the pipeline; `streamed` is what a pipeline's own processor pushes on.
"""

import asyncio
import json
import sys

from pipecat.frames.frames import EndFrame, LLMContextFrame, LLMTextFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.llm import OpenAILLMService


class Collector(FrameProcessor):
    def __init__(self):
        super().__init__()
        self.words = ""

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMTextFrame):
            self.words += frame.text
        await self.push_frame(frame, direction)


def service(base_url, grant):
    return OpenAILLMService(base_url=f"{base_url}/v1", api_key=grant, settings=OpenAILLMService.Settings(model="any"))


async def main(base_url: str, grant: str) -> None:
    context = LLMContext([{"role": "user", "content": "hi"}])
    plain = await service(base_url, grant).run_inference(context)
    collector = Collector()
    task = PipelineTask(Pipeline([service(base_url, grant), collector]))
    await task.queue_frames([LLMContextFrame(context), EndFrame()])
    await PipelineRunner(handle_sigint=False).run(task)
    print(json.dumps({"plain": plain, "streamed": collector.words}))


asyncio.run(main(*sys.argv[1:]))
