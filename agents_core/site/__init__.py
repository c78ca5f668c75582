"""What a site's files beside its bots say: skills, tools, commands, things, pages, events, people."""
