"""Firstword and its peers, side by side: the same recordings, voice, recogniser and scripted model. See `bench.py`."""
