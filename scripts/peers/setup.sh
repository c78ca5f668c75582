#!/usr/bin/env bash
# Pipecat and LiveKit Agents for `firstword bench peers`, in .venv-peers: their pins and ours need not agree. About 1 GB.
# Safe to repeat.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -x .venv-peers/bin/python ] || python3.11 -m venv .venv-peers
.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/peers/requirements.txt
