"""The report: results as one page that people would rather look at than read. See `page.py`."""
