"""The fields in an owner's words: which section each is in, what it is called, and what it does.

Words only. What a field may say comes from the grammar. The one rule: every field of the grammar has a place here, and
a test sees to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agents_core.editing import BODY

Control = Literal["", "long", "engine", "voice", "drawings", "chips", "checks", "skills", "audience", "rows", "money"]


@dataclass(frozen=True, slots=True)
class Label:
    """`control` where the kind of the value does not say how it is changed; `unit` stands behind a number."""

    name: str
    help: str = ""
    control: Control = ""
    unit: str = ""


# Sections in the order in which the page has them, each with its fields.
SECTIONS: Mapping[str, Mapping[str, Label]] = {
    "Voice": {
        "voice.first": Label("First sentence", "What it says before anybody has spoken. Empty: it waits.", "long"),
        "voice.by": Label("Who speaks", "A voice on this machine, or the speech address in the server's settings."),
        "voice.engine": Label("Engine", "What makes the voice on this machine.", "engine"),
        "voice.voice": Label("Voice", "One that the engine offers. Empty: its own.", "voice"),
        "voice.voices": Label("Voices people may choose", "Offered in the settings of the page.", "chips"),
        "voice.language": Label("Language", "A code: en, de, pt-BR."),
        "voice.speed": Label("Speed", "1 is the voice's own.", unit="×"),
        "voice.visual": Label("Shape", "What people see while it speaks.", "drawings"),
        "voice.topic": Label("Topic", "A sentence about what people say here; its words are heard rightly.", "long"),
    },
    "Timing": {
        "voice.wait": Label("Patience", "Stretches the pause that ends a turn. Higher lets people think.", unit="×"),
        "voice.words": Label("Opening", "The first piece is spoken after so many words.", unit="words"),
        "voice.gap": Label("Pause", "Between two pieces.", unit="s"),
        "voice.steps": Label("Solver steps", "For engines that solve: more is finer and later.", unit="steps"),
        "voice.opening": Label(
            "Solver steps of the opening", "Fewer, and it is heard sooner. Empty: as many as the rest.", unit="steps"
        ),
        "voice.preempt": Label("Think ahead", "Begin to answer while a person may only be pausing."),
    },
    "Words": {
        "name": Label("Name", "What people see it called."),
        BODY: Label("Who it is", "Lines with > are questions; the line under them is the answer.", "long"),
        "extends": Label("Begins with", "A bot whose words and tools come first."),
        "memory": Label("Memory", "What it remembers of a person."),
        "model": Label("Model", "At the first address that costs money. Empty: the address's own."),
    },
    "Waking": {
        "surfaces": Label("Where it is", "Whoever speaks or writes to it there wakes it.", "checks"),
        "hears": Label(
            "What else wakes it",
            "A mention, a time or an event, on a site that acts on them. This server does not: it wakes a bot when "
            "somebody speaks or writes to it, and refuses a row here.",
            "rows",
        ),
        "answers": Label("How it answers", "By itself, or as a draft for a person."),
        "offer": Label("Offered to people", "Where people have a desk."),
    },
    "Audience": {
        "for": Label("Who may talk to it", "Any one of these is enough. None: anyone.", "audience"),
        "serves": Label("Whom it may be asked about", "None: anyone.", "audience"),
    },
    "Spending": {
        "limits.spend": Label("One answer costs at most", "In the money that your prices are in.", "money"),
        "limits.steps": Label("One answer takes at most", unit="steps"),
        "limits.minutes": Label("One answer lasts at most", unit="minutes"),
        "limits.per.minute": Label("One person, in a minute", control="money"),
        "limits.per.hour": Label("One person, in an hour", control="money"),
        "limits.per.day": Label("One person, in a day", control="money"),
        "limits.per.week": Label("One person, in a week", control="money"),
        "limits.per.month": Label("One person, in a month", control="money"),
    },
    "Skills and tools": {
        "skills": Label("What it may look up", "Each is a line in its prompt until it opens it.", "skills"),
        "tools": Label("What it can do", "Nothing else exists for it.", "checks"),
    },
    "Endings": {
        "endings.failed": Label("When it cannot answer", control="long"),
        "endings.nothing_to_add": Label("When it has nothing to say", control="long"),
        "endings.out_of_money": Label("When the money is used up", control="long"),
        "endings.out_of_steps": Label("When the steps are used up", control="long"),
        "endings.out_of_time": Label("When the time is used up", control="long"),
        "endings.cancelled": Label("When somebody stopped it", control="long"),
    },
}
# What a choice means, in words.
CHOICES: Mapping[str, Mapping[str, str]] = {
    "voice.by": {"local": "A voice on this machine", "endpoint": "The speech address"},
    "memory": {
        "none": "Nothing",
        "thread": "This conversation",
        "person": "What they asked before",
        "person+recall": "What they said, by meaning",
    },
    "answers": {"directly": "By itself", "draft": "As a draft"},
    "offer": {"off": "Not offered", "ask": "When asked for", "always": "Always"},
    "surfaces": {
        "voice": "The voice page",
        "support": "Support",
        "spaces": "Spaces",
        "coaching": "Coaching",
    },
}
