"""The marks that are not read, as data: what the filter in `speakable.py` looks for.

Data only. The one rule: nothing here ever matches a letter of any script, CJK above all.
"""

from __future__ import annotations

import re

# Said in place of a block of code, which sounds like noise and stands on the screen.
CODE = "Code, on the screen."
A_LINK = "a link"

# Spans that are dropped whole: reasoning, and tool calls written as words.
HIDDEN = frozenset(
    {
        "think",
        "thinking",
        "thought",
        "thoughts",
        "reasoning",
        "reflection",
        "scratchpad",
        "tool_call",
        "tool_calls",
        "toolcall",
        "function_call",
        "function_calls",
        "function",
        "invoke",
        "tool_code",
        "tool_response",
        "tool_use",
    }
)
# Tags that are dropped while what they hold is read.
MARKUP = frozenset(
    {
        "a",
        "abbr",
        "answer",
        "b",
        "blockquote",
        "br",
        "center",
        "code",
        "dd",
        "del",
        "details",
        "div",
        "dl",
        "dt",
        "em",
        "font",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "img",
        "ins",
        "kbd",
        "li",
        "mark",
        "ol",
        "p",
        "pre",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "summary",
        "sup",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "u",
        "ul",
    }
)
# Tags behind which a listener expects a pause.
BLOCKS = frozenset(
    {
        "blockquote",
        "br",
        "dd",
        "div",
        "dt",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "table",
        "td",
        "th",
        "tr",
        "ul",
    }
)

# Keys of a JSON object that is a tool call written as words.
CALL_NAMES = frozenset({"name", "function", "tool", "tool_name", "action"})
CALL_INPUTS = frozenset({"arguments", "parameters", "args", "input", "tool_input", "action_input"})

# Emoji, dingbats, box drawing, geometric shapes and what modifies them. No arrows: they are read.
SILENT = re.compile(
    "[\u231a\u231b\u23e9-\u23fa\u2500-\u27bf\u2b00-\u2bff\u20e3\ufe0e\ufe0f\U0001f000-\U0001faff\U000e0020-\U000e007f]+"
)
EMPHASIS = "*_~="
BULLETS = "-*+•◦‣▪"
# Characters at which the filter stops to look; all others pass at once.
STOP = re.compile(r"[\s<\[!*_~=`\\|【A-Za-z0-9\u200d\u231a-\u2bff\u20e3\ufe0e\ufe0f\U0001f000-\U000e007f]")

URL = re.compile(r"(?:https?://|www\.)[^\s<>\"'\])】」』，。；、！？]*", re.IGNORECASE)
URL_STARTS = ("http://", "https://", "www.")
HOST = re.compile(r"(?:https?://)?(?:[^/@\s]*@)?(?:www\.)?((?:[\w-]+\.)+[^\W\d_]{2,})(?=[:/?#]|$)", re.IGNORECASE)
CITATION = re.compile(r"\^[^\s\]]+|[1-9]\d{0,2}(?:\s*[,–-]\s*\d{1,3})*|\d+†[^\]]*")
TAG = re.compile(r"<(/?)([A-Za-z_][\w-]*)([^<>\n]{0,300})>")
TAG_BEGUN = re.compile(r"</?([A-Za-z_][\w-]*)?([^<>\n]{0,300})$")
SPECIAL_TOKEN = re.compile(r"<\|[^|<>\n]{1,60}\|>")
