"""`firstword serve`: the page and the doors."""

from __future__ import annotations

import click


def _settings_epilog() -> str:
    """Every setting in a line; made from the settings themselves, so that it cannot go stale."""
    from firstword.settings import Settings, variable

    lines = []
    for name, field in Settings.model_fields.items():
        default = "" if field.default_factory or "secret" in name or "key" in name else field.get_default()
        shown = (
            f" [{str(default).lower() if isinstance(default, bool) else default}]"
            if default not in ("", (), None)
            else ""
        )
        lines.append(f"{variable(name)}  {field.description}{'' if name == 'content' else shown}")
    return "\n".join(lines)


class _WithSettings(click.Command):
    """Adds the settings to `--help`, and only then imports them."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Settings (variables, or keys of firstword.toml in lower case without the prefix)"):
            rows = [line.split("  ", 1) for line in _settings_epilog().splitlines()]
            formatter.write_dl([(name, text) for name, text in rows])


@click.command(cls=_WithSettings, short_help="Serve the page and the doors.")
@click.option("--host", default=None, help="address to serve on (FIRSTWORD_HOST)")
@click.option("--port", default=None, type=int, help="port to serve on (FIRSTWORD_PORT)")
def serve(host: str | None, port: int | None) -> None:
    """Serve the page at /app/voice/BOT and the OpenAI-shaped doors under /v1."""
    from firstword.app import create_kept_app
    from firstword.serving import address, bind, server_for
    from firstword.settings import load_settings, refuse_unsafe

    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = load_settings(**given)
    refuse_unsafe(settings)
    listener = bind(settings.host, settings.port)
    base_url = address(listener)
    faults: list[Exception] = []

    def give_up(fault: Exception) -> None:
        faults.append(fault)
        server.should_exit = True

    server = server_for(create_kept_app(settings, base_url, give_up), log_level=settings.log_level)
    click.echo(f"Firstword is starting on {base_url} (stop with Ctrl-C)")
    server.run(sockets=[listener])
    if faults:
        raise faults[0]
