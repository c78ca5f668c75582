"""The child process in which llama.cpp runs, speaking OpenAI's shape on loopback.

Not imported by the server: it is started by its path, so that it loads nothing else of the program. It takes its
settings as one JSON argument and prints one JSON line: `{"address": …}` when it can be asked, or `{"error": …}`.

The one rule: it never outlives its parent. It ends when its standard input ends, or when its parent is another.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import sys
from typing import Any

# How often the parent is looked at. Its end closes our standard input at once; this is for the case where a fork of the
# parent still holds the other end.
LOOK_S = 2.0
# Threads that read requests: they wait, they do not compute.
HTTP_THREADS = 8
# What a batch is computed in. Smaller than the default 512, so that one person's long prompt delays another's next
# token less; a prompt here is a few hundred tokens.
UBATCH = 256
# Host memory for beginnings that lost their slot, 23 KB a token: sixty exchanges of seventy tokens. A question whose
# beginning is here has its first word in a third of the time.
PROMPT_CACHE_MIB = 96
# A small model says much as it was shown it: where its last three tokens stand in the prompt, the six after them there
# are tried at one go. What is said is the same; forty characters came 25 ms sooner (64 against 89), whole answers 57.
MATCHED_TOKENS, TRIED_TOKENS = 3, 6


def serve(settings: dict[str, Any]) -> None:
    """Load the model, say where it listens, and wait for the parent to end."""
    # The wheel's extension has no stubs, so its names are asked for by hand.
    xllamacpp: Any = importlib.import_module("xllamacpp")

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.model_alias = {settings["model"]}
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["context"] * settings["slots"]
    params.n_gpu_layers = 0
    params.n_ubatch = UBATCH
    params.cont_batching = True
    params.cache_prompt = True
    params.cache_ram_mib = PROMPT_CACHE_MIB
    # Two engines share the cores: a thread that spins while it waits starves the recogniser beside it.
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = settings["threads"]
        threads.poll = 0
    # One core stays free while tokens are written: its threads wait for one another at every step, so that one which
    # shares its core with the voice or the server holds up the rest (on two cores 20 ms a token against 35).
    params.cpuparams.n_threads = max(1, settings["threads"] - 1)
    speculative = params.speculative
    speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    speculative.ngram_simple.size_n, speculative.ngram_simple.size_m = MATCHED_TOKENS, TRIED_TOKENS
    params.n_threads_http = HTTP_THREADS
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.endpoint_slots = False
    params.warmup = True
    params.verbosity = 0
    server = xllamacpp.Server(params)
    _say({"address": server.listening_address})
    _wait_for_the_parent()


def _wait_for_the_parent() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], LOOK_S)
        if readable and not os.read(0, 1):
            return


def _say(line: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        serve(json.loads(sys.argv[1]))
    except Exception as fault:
        _say({"error": f"{type(fault).__name__}: {fault}"})
    # Without the model's own tearing down, which takes longer than the system's and can hang.
    os._exit(0)
