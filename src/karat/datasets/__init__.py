"""Example data that come with karat. They are simulated; `tools/make_datasets.py` makes them."""
