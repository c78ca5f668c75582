"""Firstword puts the house together: settings, the app, the command line. See README.md.

It decides nothing about a turn. The one rule: what must be set before NumPy is imported is set here, because every way
into the program comes through this file.
"""

import os

# NumPy's OpenBLAS pool spins for about 100 ms after each use and takes the second core from the recogniser: one call
# went from 146 to 77 ms without it (measured on two cores).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.1.0"
