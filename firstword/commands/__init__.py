"""The commands, one file each; `firstword/__main__.py` lists them."""
