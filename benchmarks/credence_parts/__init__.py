"""The parts of benchmarks/credence.py: scenarios, oracles, peers, and what is made of their scores."""
