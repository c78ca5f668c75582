"""A person before the page: a microphone that hears what it is told when it is told, and an ear at the loudspeaker.

A WAV as Chromium's microphone begins when the page opens it; this one speaks at a moment of the page's own audio clock,
and what leaves for the loudspeaker is heard on the same clock, so that the two can be told apart to a few milliseconds
however busy the machine is. It changes nothing of the page: the browser's microphone alone is another. The one rule:
a moment is one of the audio clock, in seconds, never of this program's.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from sound import AUDIBLE, Pcm, resample
from sound.noises import Make
from tts import Engine
from web.browser import until

RATE_HZ = 48_000
# How loud coughs are, of full scale.
COUGH = 0.3
# The same voice that answers is somebody else's when it is so much quicker and higher.
_PITCH = 1.15
# Hears what comes in: the peak of each 128 samples, told in bundles, so that a busy page has little to read.
EAR_JS = """registerProcessor("ear", class extends AudioWorkletProcessor {
  heard = [];
  process([input]) {
    let peak = 0;
    for (const sample of input[0] ?? []) peak = Math.max(peak, Math.abs(sample));
    this.heard.push([currentTime, peak]);
    if (this.heard.length === 8) this.port.postMessage(this.heard.splice(0));
    return true;
  }
});"""
# `heard` is all that left for the loudspeaker: of the page's own player, and of a call. The microphone is a node of the
# page's own audio context: what is said and what is heard have one clock.
_PERSON = """
window.person = { heard: [], context: null, mouth: null };
{
  const connect = AudioNode.prototype.connect;
  const follow = AudioContext.prototype.createMediaStreamSource;
  const listen = async (node) => connect.call(node, await person.ear);
  window.AudioContext = class extends AudioContext {
    constructor(...given) {
      super(...given);
      person.context = this;
      const made = URL.createObjectURL(new Blob([EAR], { type: "text/javascript" }));
      person.ear = this.audioWorklet.addModule(made).then(() => {
        const ear = new AudioWorkletNode(this, "ear", { numberOfOutputs: 0 });
        ear.port.onmessage = ({ data }) => person.heard.push(...data);
        return ear;
      });
    }
  };
  AudioNode.prototype.connect = function (to, ...rest) {
    if (to === this.context.destination) listen(this);
    return connect.call(this, to, ...rest);
  };
  AudioContext.prototype.createMediaStreamSource = function (stream) {
    const made = follow.call(this, stream);
    if (stream !== person.mouth?.stream) listen(made);
    return made;
  };
  navigator.mediaDevices.getUserMedia = async () => {
    const { context } = person;
    person.mouth = new MediaStreamAudioDestinationNode(context, { channelCount: 1 });
    // No room is without a sound.
    const { sampleRate } = context;
    const air = new AudioBuffer({ length: 2 * sampleRate, sampleRate });
    const samples = air.getChannelData(0);
    for (let at = 0; at < samples.length; at++) samples[at] = (Math.random() - 0.5) * 0.0007;
    const room = new AudioBufferSourceNode(context, { buffer: air, loop: true });
    room.connect(person.mouth);
    room.start();
    return person.mouth.stream;
  };
  person.say = ([rate, said]) => {
    const ints = new Int16Array(Uint8Array.from(atob(said), (one) => one.charCodeAt(0)).buffer);
    const buffer = new AudioBuffer({ length: ints.length, sampleRate: rate });
    buffer.copyToChannel(Float32Array.from(ints, (one) => one / 32768), 0);
    const voice = new AudioBufferSourceNode(person.context, { buffer });
    voice.connect(person.mouth);
    const at = person.context.currentTime + 0.1;
    voice.start(at);
    return at;
  };
}
""".replace("EAR", json.dumps(EAR_JS))


@dataclass(frozen=True, slots=True)
class Said:
    """When a sound went into the microphone: its first loud 10 ms, and the end of its last."""

    first_s: float
    end_s: float


class Person:
    """Somebody before `page`, which is not open yet.

    Its context has `bypass_csp`: the page's policy would forbid the ear as it forbids every script that is not ours.
    """

    def __init__(self, page: Any) -> None:
        self._page = page
        page.add_init_script(_PERSON)

    @property
    def now_s(self) -> float:
        """The moment up to which everything has been heard."""
        told: float = self._page.evaluate("person.heard.at(-1)?.[0] ?? 0")
        return told

    def say(self, pcm: Pcm) -> Said:
        """Say it from now on; the microphone is open."""
        sound = resample(pcm, RATE_HZ)
        first, end = sound.loud or (0, len(sound))
        words = base64.b64encode(sound.to_s16le()).decode()
        at_s = self._page.evaluate("person.say", [RATE_HZ, words])
        return Said(at_s + first / RATE_HZ, at_s + end / RATE_HZ)

    def until_heard(self, since_s: float, limit_s: float = 60.0) -> float:
        """Wait until something sounds after a moment; gives when it began."""
        until(self._page, f"person.heard.some(([at, peak]) => at > {since_s} && peak > {AUDIBLE})", limit_s)
        return self.audible(since_s)[0]

    def until_past(self, moment_s: float, limit_s: float = 60.0) -> None:
        """Wait until everything before a moment has been heard."""
        until(self._page, f"person.heard.at(-1)?.[0] > {moment_s}", limit_s)

    def audible(self, since_s: float, until_s: float = float("inf")) -> list[float]:
        """The moments at which something sounded."""
        heard = self._page.evaluate(
            "([since, least]) => person.heard.filter(([at, peak]) => at >= since && peak > least).map(([at]) => at)",
            [since_s, AUDIBLE],
        )
        return [at for at in heard if at < until_s]


def spoken(engine: Engine, text: str) -> Pcm:
    """`text` by somebody who is not the one who answers: the same voice, quicker and higher."""
    made = Pcm.join(list(engine.speak(text)))
    return Pcm(made.samples, round(made.rate_hz * _PITCH))


def noise(make: Make, seed: int) -> Pcm:
    """A noise as loud as a person makes it before their microphone."""
    made = make(np.random.default_rng(seed), RATE_HZ)  # its peak is 1
    return Pcm((COUGH * made).astype(np.float32), RATE_HZ)
