"""What a model writes among its words that is not for a listener: its thoughts, and calls of tools written as words.

Not a parser: what is written as words is dropped, not run. The one rule: from where it could begin, words are held
until it is known, so that not one character of it is ever spoken, wherever the pieces are cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents_core.providers.spoken_calls import CallsInWords

_THOUGHTS = ("think", "thinking", "thought", "reasoning", "reflection", "scratchpad")
_CALLS = ("tool_call", "tool_calls", "function_call", "function_calls", "tool_code", "tool_response", "tool_result")
# What opens, and what may close it; nothing where the rest of the answer goes with it. Small letters: they are compared
# so. The last ones are marks of model families: Qwen, Llama, Mistral, Kimi, DeepSeek, and the channels of gpt-oss.
_PAIRS: dict[str, tuple[str, ...]] = {
    **{f"<{name}>": (f"</{name}>",) for name in (*_THOUGHTS, *_CALLS)},
    "<function=": ("</function>",),
    "<invoke ": ("</invoke>",),
    "[think]": ("[/think]",),
    "◁think▷": ("◁/think▷",),
    "<|begin_of_thought|>": ("<|end_of_thought|>",),
    "<|channel|>analysis": ("<|end|>", "<|channel|>final<|message|>"),
    "<|channel|>commentary": ("<|end|>", "<|call|>", "<|channel|>final<|message|>"),
    "<|tool_call|>": (),
    "<|python_tag|>": (),
    "[tool_calls]": (),
    "<|tool_calls_section_begin|>": ("<|tool_calls_section_end|>",),
    "<｜tool▁calls▁begin｜>": ("<｜tool▁calls▁end｜>",),
}
# Ends and turn marks that were left over; dropped where they stand.
_ORPHANS = (
    *(f"</{name}>" for name in (*_THOUGHTS, *_CALLS)),
    "</function>",
    "</invoke>",
    "<|start|>assistant",
    "<|channel|>final<|message|>",
    "<|message|>",
    "<|end|>",
    "<|return|>",
    "<|im_start|>assistant",
    "<|im_end|>",
    "<|eot_id|>",
)
_MARKS = (*_PAIRS, *_ORPHANS)
_STARTS = tuple({mark[0] for mark in _MARKS})
_SMALL = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


class Hidden:
    """Drops what is not for a listener. `names` are the tools that are offered; `inside` begins in a thought.

    Push words as they come, then flush.
    """

    def __init__(self, names: Sequence[str] = (), *, inside: bool = False) -> None:
        self._marks, self._calls = _Marks(inside), CallsInWords(names)

    def push(self, words: str) -> str:
        """The words that are sure to be for the listener."""
        return self._calls.push(self._marks.push(words))

    def flush(self) -> str:
        """What is left at the end: words, unless it stands inside markup."""
        return self._calls.push(self._marks.flush()) + self._calls.flush()


class _Marks:
    """Thoughts and calls between marks."""

    def __init__(self, inside: bool) -> None:
        self._held = ""
        self._until: tuple[str, ...] = ("</think>",) if inside else ()
        self._dropping = inside

    def push(self, words: str) -> str:
        self._held += words
        out = ""
        while self._held:
            if self._dropping:
                if not self._drop():
                    break
                continue
            at = min((at for at in map(self._held.translate(_SMALL).find, _STARTS) if at >= 0), default=len(self._held))
            out, self._held = out + self._held[:at], self._held[at:]
            if not self._held:
                break
            held = self._held.translate(_SMALL)
            mark = next((mark for mark in _MARKS if held.startswith(mark)), None)
            longer = any(mark is None or len(other) > len(mark) for other in _MARKS if other.startswith(held))
            if longer:
                break
            if mark is not None:
                self._held = self._held[len(mark) :]
                self._dropping, self._until = mark in _PAIRS, _PAIRS.get(mark, ())
            else:
                out, self._held = out + self._held[:1], self._held[1:]
        return out

    def flush(self) -> str:
        rest, self._held = ("" if self._dropping else self._held), ""
        return rest

    def _drop(self) -> bool:
        """Drop up to the close. False where it has not come yet; what could be its beginning is kept."""
        if not self._until:
            self._held = ""
            return False
        held = self._held.translate(_SMALL)
        found = [(at, mark) for mark in self._until if (at := held.find(mark)) >= 0]
        if not found:
            self._held = self._held[-(max(map(len, self._until)) - 1) :]
            return False
        at, mark = min(found)
        self._held = self._held[at + len(mark) :]
        self._dropping = False
        return True
