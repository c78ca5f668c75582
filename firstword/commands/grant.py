"""`firstword grant BOT`: mint a grant for a script."""

from __future__ import annotations

import json

import click


@click.command(short_help="Mint a grant for a script.")
@click.argument("bot")
@click.option("--subject", default="owner", show_default=True, help="whom it is for")
@click.option("--room", default="", help="the one room it opens; a fresh one where left out")
@click.option("--minutes", default=30.0, show_default=True, type=click.FloatRange(0.1, 30), help="how long it lives")
@click.option("--json", "as_json", is_flag=True, help="print an object with the grant and its end")
def grant(bot: str, subject: str, room: str, minutes: float, as_json: bool) -> None:
    """Mint a grant that opens the doors as BOT, signed with FIRSTWORD_SECRET.

    It is the key of any OpenAI client at http://127.0.0.1:8765/v1: OPENAI_API_KEY=$(firstword grant guide).
    """
    import uuid

    from firstword.house import known_bot, signer_for
    from firstword.settings import load_settings

    settings = load_settings()
    known_bot(settings, bot)
    signer = signer_for(settings)
    token = signer.mint(bot=bot, subject=subject, room=room or uuid.uuid4().hex, minutes=minutes)
    if as_json:
        click.echo(json.dumps({"grant": token, "expires_at": signer.verify(token).expires_at}))
    else:
        click.echo(token)
