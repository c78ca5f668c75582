"""The HTML of the three pages: the list of bots, the conversation, and "there is no such page".

It is the frame only; everything that moves is in `static/`. The one rule: a value reaches a page through `_fill`, which
escapes it; there is no script in a page, only the address of one.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from string import Template

from web.bots import VISUALS, BotCard

_HEAD = """<!doctype html>
<html lang="$language">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="same-origin">
<title>$title</title>
<link rel="icon" href="$static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="$static/style.css">
"""  # noqa: E501 - one viewport, one line

_ICONS = {
    "back": '<path d="M14.5 5.5 8 12l6.5 6.5"/>',
    "kept": '<path d="M4.2 12a7.8 7.8 0 1 0 2.5-5.7L4.2 8.6M4.2 4.4v4.2h4.2M12 7.8V12l3 1.8"/>',
    "lines": '<path d="M5 7.5h14M5 12h9M5 16.5h11"/>',
    "cog": '<circle cx="12" cy="12" r="2.8"/><path d="M12 3.6v2.6M12 17.8v2.6M3.6 12h2.6M17.8 12h2.6M6.1 6.1l1.8 1.8'
    'M16.1 16.1l1.8 1.8M6.1 17.9l1.8-1.8M16.1 7.9l1.8-1.8"/>',
    "mic": '<rect x="9.2" y="3.5" width="5.6" height="10.5" rx="2.8"/><path d="M5.8 11.5a6.2 6.2 0 0 0 12.4 0M12 17.7'
    'v2.8"/><path class="slash" d="M4.5 4.5l15 15"/>',
    "send": '<path d="M12 19V5.5M6 11l6-6 6 6"/>',
}


def home_page(bots: Sequence[BotCard], *, static: str, owner: bool = False) -> str:
    """The list of bots; for an owner with the way to the desk."""
    cards = "".join(
        _fill(
            '<li><a class="card" href="/app/voice/$slug"><fw-orb shape="$visual" small aria-hidden="true"></fw-orb>'
            '<span class="card-name">$name</span><span class="card-about">$about</span></a></li>\n',
            slug=bot.slug,
            name=bot.name,
            visual=_visual(bot),
            about=bot.about or bot.first,
        )
        for bot in bots
    )
    listed = f'<ul class="cards">\n{cards}</ul>' if cards else '<p class="empty">There is no bot here yet.</p>'
    head = _fill(_HEAD, language="en", title="Firstword", static=static)
    return (
        head
        + _fill('<script type="module" src="$static/orb.js"></script>\n</head>\n', static=static)
        + '<body class="home">\n<main>\n<h1>Firstword</h1>\n<p class="lead">Choose who you would like to talk to.</p>\n'
        + listed
        + ('\n<p><a class="to-desk" href="/app/desk">The desk</a></p>' if owner else "")
        + "\n</main>\n</body>\n</html>\n"
    )


def missing_page(what: str, *, static: str) -> str:
    """A page for an address that leads nowhere; `what` is the sentence that says so."""
    head = _fill(_HEAD, language="en", title="Not here · Firstword", static=static)
    return head + _fill(
        '</head>\n<body class="home">\n<main>\n<h1>Nobody here</h1>\n<p class="lead">$what</p>\n'
        '<p><a class="button" href="/">See who is</a></p>\n</main>\n</body>\n</html>\n',
        what=what,
    )


_ROOMS = (
    ("bots", "/app/desk", "Bots"),
    ("conversations", "/app/desk/conversations", "Conversations"),
    ("health", "/app/desk/health", "Health"),
)


def desk_page(room: str, slug: str, *, static: str) -> str:
    """A room of the owner's desk: `bots`, `bot` (then with its `slug`), `conversations` or `health`."""
    title = next((name for one, _, name in _ROOMS if one == room), "A bot")
    head = _fill(_HEAD, language="en", title=f"{title} · Desk · Firstword", static=static)
    here = {"bot": "bots"}.get(room, room)
    links = "".join(
        f'<a href="{address}"{" aria-current=page" if one == here else ""}>{name}</a>' for one, address, name in _ROOMS
    )
    return (
        head
        + _fill(
            '<link rel="stylesheet" href="$static/desk/desk.css">\n'
            '<script type="module" src="$static/desk/$room.js"></script>\n</head>\n',
            static=static,
            room=room,
        )
        + _fill('<body class="desk" data-slug="$slug">\n', slug=slug)
        + '<header class="desk-top"><a class="desk-home" href="/" title="All bots">Firstword</a>\n'
        + f'<nav aria-label="Desk">{links}</nav></header>\n'
        + '<main id="room" tabindex="-1"><h1 id="title"></h1><p class="small" id="said" role="status">Looking…</p>'
        + '</main>\n<noscript><p class="bare">The desk needs JavaScript.</p></noscript>\n</body>\n</html>\n'
    )


def voice_page(bot: BotCard, *, static: str, modules: Sequence[str], rooms: bool = False) -> str:
    """The conversation with `bot`. `modules` are the scripts the browser may fetch before it asks for them.

    `rooms` says that the page can join the rooms of a LiveKit server.
    """
    head = _fill(_HEAD, language=bot.language, title=f"{bot.name} · Firstword", static=static)
    preloads = "".join(
        _fill('<link rel="modulepreload" href="$static/$name">\n', static=static, name=name) for name in modules
    )
    return (
        head
        + preloads
        + _fill('<script type="module" src="$static/page.js"></script>\n</head>\n', static=static)
        + _fill(
            _BODY,
            slug=bot.slug,
            name=bot.name,
            first=bot.first,
            visual=_visual(bot),
            language=bot.language,
            voices=json.dumps(bot.voices),
            languages=json.dumps(bot.languages),
            rooms="yes" if rooms else "",
            forgetful="" if bot.remembers else "hidden",
            **{f"icon_{name}": "" for name in _ICONS},
        )
    )


def _visual(bot: BotCard) -> str:
    return bot.visual if bot.visual in VISUALS else VISUALS[0]


def _fill(template: str, **values: str) -> str:
    """`template` with its values escaped, and the icons (which are ours) put in."""
    escaped = {key: html.escape(value) for key, value in values.items()}
    for name, paths in _ICONS.items():
        if f"icon_{name}" in escaped:
            escaped[f"icon_{name}"] = f'<svg viewBox="0 0 24 24" aria-hidden="true">{paths}</svg>'
    return Template(template).substitute(escaped)


_BODY = """<body class="talk" data-bot="$slug" data-name="$name" data-first="$first" data-visual="$visual"
 data-language="$language" data-voices="$voices" data-languages="$languages" data-rooms="$rooms">
<header class="top">
<a class="tool" href="/" aria-label="All bots" title="All bots">$icon_back</a>
<h1>$name</h1>
<button class="tool" id="kept" type="button" aria-haspopup="dialog" aria-label="Conversations"
 title="Conversations">$icon_kept</button>
<button class="tool" id="fold" type="button" aria-pressed="true" aria-controls="transcript" aria-label="Transcript"
 title="Transcript">$icon_lines</button>
<button class="tool" id="cog" type="button" aria-haspopup="dialog" aria-label="Settings" title="Settings">$icon_cog</button>
</header>
<main class="room">
<section class="stage" aria-label="Conversation">
<fw-orb id="orb" shape="$visual" aria-hidden="true"></fw-orb>
<div class="under">
<p id="state" role="status"></p>
<fw-live id="live" lang="$language"></fw-live>
<div id="loading" role="group" aria-label="Getting the models ready" hidden></div>
<button class="button" id="start" type="button">Start talking</button>
<p id="notice" role="alert"></p>
</div>
</section>
<section class="told" id="told" aria-label="Transcript">
<fw-transcript id="transcript" tabindex="0" role="region" aria-label="What was said"></fw-transcript>
</section>
<form class="dock" id="say" autocomplete="off">
<button class="mic" id="mic" type="button" aria-pressed="false" aria-label="Microphone" hidden>$icon_mic</button>
<label class="unseen" for="line">Write to $name</label>
<textarea id="line" rows="1" maxlength="4000" placeholder="Write to $name" enterkeyhint="send"></textarea>
<button class="send" id="send" type="submit" aria-label="Send">$icon_send</button>
</form>
</main>
<p class="unseen" id="spoken" role="status"></p>
<dialog id="settings" aria-labelledby="settings-title"></dialog>
<dialog id="drawer" aria-labelledby="drawer-title">
<div class="dialog-top"><h2 id="drawer-title">Conversations</h2>
<button class="tool" type="button" data-does="close" aria-label="Close">×</button></div>
<button class="button quiet" type="button" data-does="fresh">New conversation</button>
<details id="memories" $forgetful><summary>What I remember</summary>
<p class="small" role="status"></p><ul></ul></details>
<p class="small" role="status" id="kept-said"></p>
<ul id="threads"></ul>
<button class="button quiet" id="older" type="button" data-does="older" hidden>Older ones</button>
</dialog>
<noscript><p class="bare">This page needs JavaScript: it carries the sound both ways.</p></noscript>
</body>
</html>
"""  # noqa: E501 - a button, one line
