"""The marks that are not read, as data: what the filter in `speakable.py` looks for.

Data only. The one rule: nothing here ever matches a letter of any script, CJK above all.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

# Said in place of a block of code, which sounds like noise and stands on the screen.
CODE = "Code, on the screen."
A_LINK = "a link"

_NAMES = {
    kind: frozenset(names.split())
    for kind, names in tomllib.loads(files("tts").joinpath("marks.toml").read_text("utf-8")).items()
}
HIDDEN, PLAIN_WORDS, MARKUP = _NAMES["hidden"], _NAMES["plain_words"], _NAMES["markup"]
TAGS = HIDDEN | MARKUP
TAG_STARTS = frozenset(name[:length] for name in TAGS for length in range(1, len(name) + 1))
BLOCKS, CALL_FENCES = _NAMES["blocks"], _NAMES["call_fences"]

# Other spellings of spans that are dropped whole, and what closes them; where nothing does, only the mark goes. Small
# letters. They are those of model families: Mistral, Kimi, Open Thoughts, gpt-oss, Llama, DeepSeek, InternLM, Gemma.
SPANS: dict[str, tuple[str, ...]] = {
    "<!--": ("-->",),
    "[think]": ("[/think]",),
    "◁think▷": ("◁/think▷",),
    "<|begin_of_thought|>": ("<|end_of_thought|>",),
    "<|begin_of_thinking|>": ("<|end_of_thinking|>",),
    "<|think|>": ("<|/think|>", "<|end_think|>"),
    "<|channel|>analysis": ("<|end|>", "<|channel|>final<|message|>"),
    "<|channel|>commentary": ("<|end|>", "<|call|>", "<|channel|>final<|message|>"),
    "<|channel|>final<|message|>": (),
    "<|start|>assistant": (),
    "<|im_start|>assistant": (),
    "<|tool_call|>": ("<|/tool_call|>", "<|end_tool_call|>", "<|im_end|>"),
    "<|python_tag|>": ("<|eom_id|>", "<|eot_id|>"),
    "<|action_start|>": ("<|action_end|>",),
    "[tool_calls]": ("\n",),
    "<|tool_calls_section_begin|>": ("<|tool_calls_section_end|>",),
    "<|tool_call_begin|>": ("<|tool_call_end|>",),
    "<｜tool▁calls▁begin｜>": ("<｜tool▁calls▁end｜>",),
    "<｜tool▁call▁begin｜>": ("<｜tool▁call▁end｜>",),
    "<｜end▁of▁sentence｜>": (),
    "<end_of_turn>": (),
    "<start_of_turn>model": (),
}
LONGEST_SPAN = max(map(len, SPANS))
# Keys of a JSON object that is a tool call written as words.
CALL_NAMES = frozenset({"name", "function", "tool", "tool_name", "action"})
CALL_INPUTS = frozenset({"arguments", "parameters", "params", "args", "kwargs", "input", "tool_input", "action_input"})

# Emoji, dingbats, box drawing, geometric shapes and what modifies them. No arrows: they are read.
SILENT = re.compile(
    "[\u231a\u231b\u23e9-\u23fa\u2500-\u27bf\u2b00-\u2bff\u20e3\ufe0e\ufe0f\U0001f000-\U0001faff\U000e0020-\U000e007f]+"
)
EMPHASIS = "*_~="
BULLETS = "-*+•◦‣▪"
# Characters without width that say nothing. The joiners of Indic and Arabic letters are not among them.
UNSEEN = "\u00ad\u200b\u2060\ufeff"
# Characters at which the filter stops to look; all others pass at once.
STOP = re.compile(
    r"[\s<\[!*_~=`\\|【◁&$A-Za-z0-9\u00ad\u200b\u200d\u2060\ufeff\u231a-\u2bff\u20e3\ufe0e\ufe0f\U0001f000-\U000e007f]"
)

URL = re.compile(r"(?:https?://|www\.)(?:[^\s<>\"'()\])】」』，。；、！？]|\([^\s()]*\))*", re.IGNORECASE)
URL_STARTS = ("http://", "https://", "www.")
HOST = re.compile(r"(?:https?://)?(?:[^/@\s]*@)?(?:www\.)?((?:[\w-]+\.)+[^\W\d_]{2,})(?=[:/?#]|$)", re.IGNORECASE)
MAIL = re.compile(r"<(?:mailto:)?([\w.+-]{1,64}@[\w.-]{3,64})>", re.IGNORECASE)
CITATION = re.compile(r"\^[^\s\]]+|[1-9]\d{0,2}(?:\s*[,–-]\s*\d{1,3})*|\d+†[^\]]*")
DEFINITION = re.compile(r"\[[^\]\n]{1,80}\]:[ \t]*(?:https?://|www\.|mailto:|[/<.#])[^\n]*(?:\n|$)", re.IGNORECASE)
DEFINITION_BEGUN = re.compile(r"\[[^\]\n]{0,80}(?:\](?::[^\n]*)?)?$")
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
ENTITY_BEGUN = re.compile(r"&(?:#[xX]?[0-9a-fA-F]{0,7}|[A-Za-z][A-Za-z0-9]{0,30})?$")
LOOSE_RULING = re.compile(r":?-{2,}:?[ \t]*\|[ \t:|-]*")
TAG = re.compile(r"<(/?)([A-Za-z_][\w:-]*)([^<>\n]{0,300})>")
TAG_BEGUN = re.compile(r"</?([A-Za-z_][\w:-]*)?([^<>\n]{0,300})$")
ALT = re.compile(r"\balt\s*=\s*[\"']([^\"']*)")
SPECIAL_TOKEN = re.compile(r"<[|｜][^|｜<>\s]{1,60}[|｜]>")

_SMALL = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def small(text: str) -> str:
    """`text` in small letters, of the same length."""
    return text.translate(_SMALL)
