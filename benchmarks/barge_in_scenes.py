"""What `firstword bench barge-in` plays: rooms, answers, interruptions, noises, all drawn from one seed.

Values and chances only; it runs nothing. The one rule: scene n of a plan is the same scene in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sound.noises import NOISES

LEAKS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9)
DELAYS_S = (0.0, 0.1, 0.3, 0.6, 1.0, 1.4)
REVERBERATIONS_S = (0.0, 0.15, 0.3)
ROOM_NOISES = (0.0003, 0.001, 0.003)

ANSWERS = (
    "The shop opens at nine in the morning, and it closes at five in the afternoon. On Saturdays we are here until "
    "noon. If you would like, I can tell you which days are quiet, or put your name on the list for next week.",
    "There are three ways to get there. The bus takes twenty minutes and stops in front of the library. By bicycle it "
    "is half an hour along the river. If it rains, take the tram, which goes every ten minutes from the square.",
    "A bot is a file with a name, a greeting and a few sentences on what it knows. Write it in any editor and save it "
    "beside the others. The server sees it at once; nothing has to be started again, and nobody is cut off.",
    "Yes, of course! The small one costs twelve dollars and the large one eighteen. Both come in blue, green and "
    "grey, and you can bring them back within thirty days. Shall I keep one for you until tomorrow evening?",
    "Let me think. The first train leaves at six fifteen, and it is always full. The second one is slower, because it "
    "waits at the border, but it has a dining car, and you will find a seat by the window.",
    "To reset it, hold the round button for five seconds until the light turns green. Then open the settings, choose "
    "your network, and type the password that is printed on the back. It will start again by itself.",
)
GREETING = "Hello! I am glad that you are here. What can I do for you today?"

INTERRUPTIONS = (
    "Stop.",
    "Wait a moment.",
    "Hold on.",
    "No, that is not what I meant.",
    "Excuse me, can I ask you something?",
    "What about Sunday?",
    "I want to talk about something else.",
    "Sorry, could you say that again?",
    "Does my sister have to come too?",
    "Actually, never mind.",
    "Can you speak more slowly, please?",
    "Please call me a taxi.",
)
BACKCHANNELS = ("Mhm.", "Uh-huh.", "Yeah.", "Okay.", "Right.", "Hmm.", "Yes.", "Oh.", "I see.", "Sure.")
# A voice says the same sentence otherwise each time, now and then badly: one take of "Stop." would be that of every
# scene, and one of an answer would lift the bar at the same syllable in each of a hundred rounds.
TAKES = 6
# Played faster the same voice is higher as well: three people out of one engine.
VOICES = (0.87, 1.0, 1.18)

Setting = Literal["headphones", "cancelled", "loudspeaker", "loud"]
# Where people sit: with headphones; in front of a laptop whose browser cancels most of the echo; in front of an open
# loudspeaker; and of one turned up. The share of each, and the gain of its leak.
SETTINGS: dict[Setting, tuple[float, tuple[float, float]]] = {
    "headphones": (0.3, (0.0, 0.01)),
    "cancelled": (0.3, (0.02, 0.1)),
    "loudspeaker": (0.25, (0.2, 0.5)),
    "loud": (0.15, (0.5, 0.9)),
}
# The local voice swings to about this at its loudest, so a leak of gain g reads g times this.
VOICE_LEVEL = 0.55
# Peaks of the person's voice: from a quiet word at a headset to a normal voice; a normal voice into the open microphone
# in front of a loudspeaker, and 1.45 times as high as what leaks at least, as in the case that the bar is drawn from
# (0.80 over 0.55). What is lower than that no level can tell from the leak.
HEADSET_LEVEL, LAPTOP_LEVEL, OPEN_LEVEL = (0.05, 0.5), (0.1, 0.5), (0.4, 0.8)
OVER_LEAK = 1.45
# One interruption in ten falls into the first answer of a session, before anything is known of its room.
_FIRST_ANSWER = 0.1


@dataclass(frozen=True, slots=True)
class Room:
    """A room with its device."""

    setting: str
    gain: float
    delay_s: float
    reverberation_s: float
    noise: float
    seed: int


@dataclass(frozen=True, slots=True)
class Alone:
    """`minutes` of playback with nobody there."""

    room: Room
    minutes: float


@dataclass(frozen=True, slots=True)
class Sounding:
    """Somebody makes a sound `at_s` into an answer: `kind` is `person`, `backchannel`, or the name of a noise.

    `text`, `voice` and `take` say which words, and how; `level` is the peak; `first` says that it is the session's
    first answer.
    """

    room: Room
    kind: str
    text: str
    voice: int
    level: float
    answer: int
    at_s: float
    first: bool
    take: int = 0


def alone(minutes: float, *, seed: int = 1) -> list[Alone]:
    """Every leak with every delay, in rooms of all kinds, `minutes` in all."""
    random = np.random.default_rng(seed)
    cells = [(leak, delay) for leak in LEAKS for delay in DELAYS_S]
    rooms = [_room(random, "nobody", leak, delay) for leak, delay in cells]
    return [Alone(room, minutes / len(rooms)) for room in rooms]


def interruptions(count: int, *, seed: int = 2) -> list[Sounding]:
    """`count` people who want to say something."""
    return [_sounding(np.random.default_rng((seed, n)), "person", INTERRUPTIONS, n) for n in range(count)]


def noises(count: int, *, seed: int = 3) -> list[Sounding]:
    """`count` sounds that are no interruption: three in five are noises, the rest are a listener's words."""
    kinds = list(NOISES)
    made = []
    for n in range(count):
        kind = "backchannel" if n % 5 in (1, 3) else kinds[(n // 5 * 3 + (n % 5) // 2) % len(kinds)]
        made.append(_sounding(np.random.default_rng((seed, n)), kind, BACKCHANNELS, n))
    return made


def _sounding(random: np.random.Generator, kind: str, texts: tuple[str, ...], n: int) -> Sounding:
    names = list(SETTINGS)
    setting = names[random.choice(len(names), p=[SETTINGS[name][0] for name in names])]
    gain = random.uniform(*SETTINGS[setting][1])
    room = _room(random, setting, gain, float(random.choice(DELAYS_S)))
    low, high = {"headphones": HEADSET_LEVEL, "cancelled": LAPTOP_LEVEL}.get(setting, OPEN_LEVEL)
    level = low * (high / low) ** random.uniform(0.0, 1.0)
    if setting in ("loudspeaker", "loud"):
        level = min(0.95, max(level, OVER_LEAK * gain * VOICE_LEVEL))
    first = kind == "person" and random.random() < _FIRST_ANSWER
    return Sounding(
        room=room,
        kind=kind,
        text=texts[n % len(texts)] if kind in ("person", "backchannel") else "",
        voice=int(random.integers(len(VOICES))),
        level=level,
        answer=int(random.integers(len(ANSWERS))),
        at_s=random.uniform(0.8 if first else 0.5, 6.0),
        first=first,
        take=int(random.integers(TAKES)),
    )


def _room(random: np.random.Generator, setting: str, gain: float, delay_s: float) -> Room:
    return Room(
        setting=setting,
        gain=gain,
        delay_s=delay_s,
        reverberation_s=float(random.choice(REVERBERATIONS_S)),
        noise=float(random.choice(ROOM_NOISES)),
        seed=int(random.integers(2**31)),
    )
