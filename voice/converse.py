"""The turn as a state machine: `step(state, event, now)` gives the next state and what to do.

Pure: it holds no socket, no thread, no model and no clock. Typing is the other way in and takes the same path; speech
over an answer is no error path. The one rule: it never raises, whatever the order of events, and at any time there is
at most one answer, which is either dropped, interrupted or played to its end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from asr.events import Judged, SpeechEnded, SpeechPaused, SpeechStarted, Words
from echo import is_own
from voice.events import (
    AllSent,
    Asked,
    Audible,
    Broke,
    Cancelled,
    Candidate,
    CloseTurn,
    Command,
    Committed,
    Discard,
    Drained,
    ForgetSound,
    Hold,
    Interrupt,
    Learn,
    LetGo,
    Line,
    Live,
    Mode,
    Nobody,
    Prepare,
    Resume,
    Said,
    SetMode,
    Started,
    Stopped,
    Tick,
    TurnEvent,
    Typed,
    Voiced,
    Why,
)
from voice.overlap import Over, spoken, whose
from voice.state import Answer, State

# A candidate with no speech behind it is a cough, a click or a door; one where speech goes on gets time for a word.
HOLD_S = 0.7
HOLD_SPEECH_S = 2.0
# The door gives an answer its words within 25 s or says that it cannot; after this the answer is given up.
THINK_S = 30.0
# Our own voice still arrives this long after it ended: the longest device lag (1.4 s), an utterance's tail and a wait.
OWN_VOICE_S = 4.0
# After a commit words come within the key's drain (0.2 s) and a recogniser call; later there were none.
COMMIT_S = 3.0
# Only so much of what was said can come back: the last half minute of speech.
_SAID_CHARS = 600

Stepped = tuple[State, tuple[Command, ...]]


def step(state: State, event: TurnEvent, now: float) -> Stepped:
    """The next state and the commands, in the order in which they are to be carried out."""
    match event:
        case SpeechStarted() | SpeechPaused() | Words() | SpeechEnded():
            return _listened(state, event, now)
        case Judged():  # the wait is the listener's; an answer to words that look whole is being made already
            return state, ()
        case Candidate():
            return _candidate(state, event, now)
        case Voiced(seconds, leaks):
            return replace(state, voiced_s=seconds, leaks=state.leaks and leaks), ()
        case Typed(text):
            return _typed(state, text, now)
        case Committed():
            return replace(state, committing_until=now + COMMIT_S), ()
        case Asked():
            return _asked(state, now)
        case Cancelled():
            after, commands = _drop(state, "cancelled", now, by_person=False)
            after, told = _settle(after, now)
            return after, (*commands, *told)
        case Audible(answer):
            return _audible(state, answer, now)
        case Said(answer, text):
            if state.answer is None or state.answer.id != answer:
                return state, ()
            return replace(state, said=text[-_SAID_CHARS:]), ()
        case AllSent(answer):
            held = state.answer
            if held is None or held.id != answer:
                return state, ()
            return replace(state, answer=replace(held, ending=True)), ()
        case Drained(answer):
            return _drained(state, answer, now)
        case Broke(answer):
            return _broke(state, answer, now)
        case SetMode(mode):
            return _set_mode(state, mode, now)
        case Tick():
            return _tick(state, now)


def _listened(state: State, event: SpeechStarted | SpeechPaused | Words | SpeechEnded, now: float) -> Stepped:
    stamp = (event.turn, event.generation)
    if stamp <= state.closed or stamp < (state.turn, state.generation):
        return state, ()
    if state.mode in ("typed", "muted"):
        return replace(state, closed=stamp), (CloseTurn(),)
    over = state.phase in ("thinking", "speaking", "held")
    if over and not state.interruptible:
        return (replace(state, closed=stamp), (CloseTurn(),)) if isinstance(event, SpeechEnded) else (state, ())
    if stamp > (state.turn, state.generation):
        state = replace(state, turn=event.turn, generation=event.generation, words="", started_at_s=_at_s(event))
    match event:
        case SpeechStarted():
            return _over_started(state, now) if over else _started(state, now)
        case SpeechPaused():
            return (replace(state, phase="pausing") if state.phase == "hearing" else state), ()
        case Words():
            return _over_words(state, event, now) if over else _words(state, event, now)
        case SpeechEnded():
            return _over_ended(state, stamp, now) if over else _ended(state, event, now)


def _at_s(event: SpeechStarted | SpeechPaused | Words | SpeechEnded) -> float:
    return event.speech_end_s if isinstance(event, Words) else event.at_s


def _started(state: State, now: float) -> Stepped:
    """Speech with no answer about, or with one that is only prepared: that one answered half a sentence."""
    after, dropped = _drop(state, "went_on", now)
    told = () if state.phase in ("hearing", "pausing") else (Started(state.started_at_s),)
    return replace(after, phase="hearing", since=now), (*dropped, *told)


def _over_started(state: State, now: float) -> Stepped:
    if state.phase == "held" or state.answer is None:
        return replace(state, speech_in_hold=True), ()
    return replace(state, phase="held", since=now, speech_in_hold=True, voiced_s=float("inf"), leaks=False), (
        Hold(state.answer.id),
    )


def _words(state: State, event: Words, now: float) -> Stepped:
    text = spoken(event.text)
    if event.kind == "partial":
        began = () if state.phase in ("hearing", "pausing") else (Started(state.started_at_s),)
        if not text or (now < state.said_until and is_own(text, state.said)):
            return state, ()
        return replace(state, phase="hearing" if began else state.phase), (*began, Live(text))
    if now < state.said_until and is_own(text, state.said):
        text = ""
    if not text:
        after, dropped = _drop(state, "changed", now)
        return replace(after, words=""), dropped
    began = () if state.phase in ("hearing", "pausing") else (Started(state.started_at_s),)
    after = replace(state, phase="pausing", words=text, since=now)
    commands: tuple[Command, ...] = (*began, Live(text))
    if after.answer is not None and after.answer.text != text:
        after, dropped = _drop(after, "changed", now)
        commands += dropped
    if after.answer is None and _may_prepare(after, event):
        after, prepared = _prepare(after, text)
        commands += prepared
    return after, commands


def _may_prepare(state: State, event: Words) -> bool:
    return state.preempt and state.respond and event.verdict == "complete"


def _over_words(state: State, event: Words, now: float) -> Stepped:
    """Words over an answer: our own, a listener's noise, or somebody."""
    asked = state.answer is not None and state.answer.ending and state.said.rstrip().endswith(("?", "？"))
    over = Over(state.said, state.language, asked, state.voiced_s, state.leaks)
    match whose(event, over):
        case "own":
            return _resume(state, now, own=True)
        case "nothing" if now - state.since < HOLD_S:  # so is a first syllable, and the second may be on its way
            return replace(state, speech_in_hold=False), ()
        case "nobody" | "nothing":
            return _resume(state, now)
        case "untold":  # they may go on; the hold ends by itself, or with the utterance
            return state, ()
        case "person":
            after, dropped = _drop(state, "went_on", now)
            after, heard = _words(replace(after, phase="listening", since=now), event, now)
            return after, (Learn("person"), *dropped, *heard)


def _ended(state: State, event: SpeechEnded, now: float) -> Stepped:
    text, wanted = state.words, state.wanted
    stamp = (event.turn, event.generation)
    told: tuple[Command, ...] = (Stopped(event.at_s),) if state.phase in ("hearing", "pausing") else ()
    state = replace(state, closed=stamp, words="", wanted=False, committing_until=float("-inf"))
    if not text:
        after, dropped = _drop(state, "changed", now)
        return replace(after, phase="listening", since=now), (*told, *dropped, Nobody(wanted), CloseTurn())
    line = Line(text, spoken=True)
    if not (state.respond or wanted):
        after, dropped = _drop(state, "cancelled", now)
        return replace(after, phase="listening", since=now), (*told, *dropped, line, CloseTurn())
    after, answering = _answer(state, text, now)
    return after, (*told, line, *answering)


def _over_ended(state: State, stamp: tuple[int, int], now: float) -> Stepped:
    """An utterance over an answer is over and its words made no interruption."""
    after, resumed = _resume(replace(state, closed=stamp, words=""), now)
    heard = state.answer is not None and state.answer.audible
    return after, (*resumed, CloseTurn()) if heard else resumed


def _candidate(state: State, event: Candidate, now: float) -> Stepped:
    answer = state.answer
    if state.phase != "speaking" or answer is None or not state.interruptible or state.mode in ("typed", "muted"):
        return state, ()
    after = replace(state, phase="held", since=now, speech_in_hold=False, voiced_s=event.voiced_s, leaks=event.leaks)
    return after, (Hold(answer.id),)


def _typed(state: State, text: str, now: float) -> Stepped:
    if not text.strip():
        return state, ()
    after, commands = _quieten(replace(state, wanted=False), now)
    after, dropped = _drop(after, "went_on", now)
    after, answering = _answer(after, text.strip(), now)
    return after, (*commands, *dropped, Line(text.strip(), spoken=False), *answering)


def _asked(state: State, now: float) -> Stepped:
    if state.phase in ("hearing", "pausing") or (state.phase == "listening" and now < state.committing_until):
        return replace(state, wanted=True), ()
    if state.phase != "listening":
        return state, ()
    return _answer(state, "", now)


def _audible(state: State, answer: int, now: float) -> Stepped:
    held = state.answer
    if held is None or held.id != answer or not held.let_go or held.audible:
        return state, ()
    after = replace(state, answer=replace(held, audible=True))
    if state.phase == "thinking":
        after = replace(after, phase="speaking", since=now)
    return after, (CloseTurn(),)


def _drained(state: State, answer: int, now: float) -> Stepped:
    held = state.answer
    if held is None or held.id != answer or not held.let_go:
        return state, ()
    closing: tuple[Command, ...] = () if held.audible else (CloseTurn(),)
    after, told = _settle(replace(state, answer=None, said_until=now + OWN_VOICE_S), now)
    return after, (*closing, *told)


def _broke(state: State, answer: int, now: float) -> Stepped:
    held = state.answer
    if held is None or held.id != answer or held.audible:
        return state, ()
    after, dropped = _drop(state, "failed", now)
    if not held.let_go:
        return after, dropped
    after, told = _settle(after, now)
    return after, (*dropped, CloseTurn(), *told)


def _set_mode(state: State, mode: Mode, now: float) -> Stepped:
    if mode == state.mode:
        return state, ()
    after, commands = _quieten(state, now)
    return replace(after, mode=mode), commands


def _tick(state: State, now: float) -> Stepped:
    waited = now - state.since
    if state.phase == "held" and waited >= (HOLD_SPEECH_S if state.speech_in_hold else HOLD_S):
        return _resume(state, now)
    if state.phase == "thinking" and waited >= THINK_S and state.answer is not None:
        return _broke(state, state.answer.id, now)
    if state.wanted and state.phase == "listening" and now >= state.committing_until:
        return replace(state, wanted=False), (Nobody(wanted=True),)
    return state, ()


def _quieten(state: State, now: float) -> Stepped:
    """Whatever the microphone is in the middle of is not wanted."""
    if state.phase == "held":
        after, resumed = _resume(state, now)
        return replace(after, closed=(state.turn, state.generation)), (*resumed, ForgetSound())
    if state.phase in ("hearing", "pausing"):
        after, dropped = _drop(state, "cancelled", now)
        closed = (state.turn, state.generation)
        after = replace(after, phase="listening", closed=closed, words="", wanted=False, since=now)
        unheard = (Nobody(wanted=True),) if state.wanted else ()
        return after, (Stopped(state.started_at_s), *dropped, *unheard, ForgetSound())
    return state, ()


def _resume(state: State, now: float, *, own: bool = False) -> Stepped:
    if state.phase != "held" or state.answer is None:
        return state, ()
    phase: Literal["speaking", "thinking"] = "speaking" if state.answer.audible else "thinking"
    after = replace(state, phase=phase, since=now, speech_in_hold=False)
    return after, (Learn("own" if own else "nobody"), Resume(state.answer.id))


def _answer(state: State, text: str, now: float) -> Stepped:
    """Answer `text`, with what was prepared where that fits."""
    commands: tuple[Command, ...] = ()
    if state.answer is not None and state.answer.text != text:
        state, commands = _drop(state, "changed", now)
    if state.answer is None:
        state, prepared = _prepare(state, text)
        commands += prepared
    answer = state.answer
    if answer is None:  # `_prepare` always makes one; this is for the reader and the type checker
        return state, commands
    after = replace(state, phase="thinking", since=now, answer=replace(answer, let_go=True), said="", wanted=False)
    return after, (*commands, LetGo(answer.id))


def _prepare(state: State, text: str) -> Stepped:
    number = state.answers
    return replace(state, answers=number + 1, answer=Answer(number, text)), (Prepare(number, text),)


def _drop(state: State, why: Why, now: float, *, by_person: bool = True) -> Stepped:
    """No answer any more; phases are the caller's."""
    answer = state.answer
    if answer is None:
        return state, ()
    if answer.audible:
        return replace(state, answer=None, said_until=now + OWN_VOICE_S), (Interrupt(answer.id, by_person),)
    return replace(state, answer=None), (Discard(answer.id, why),)


def _settle(state: State, now: float) -> Stepped:
    """After a cancel: nobody answers; a person who is speaking goes on."""
    if state.phase == "held" and state.speech_in_hold:
        return replace(state, phase="hearing", since=now), (Started(state.started_at_s),)
    if state.phase in ("thinking", "speaking", "held"):
        return replace(state, phase="listening", since=now), ()
    return state, ()
