#!/usr/bin/env bash
# The frameworks whose clients are tried on the doors, in .venv-clients: too large for ./check, which skips them in words
# where this was not run. Five minutes on a busy machine, 850 MB. Safe to repeat.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -x .venv-clients/bin/python ] || python3.11 -m venv .venv-clients
.venv-clients/bin/python -m pip install --quiet --disable-pip-version-check -r tests/clients/requirements.txt
