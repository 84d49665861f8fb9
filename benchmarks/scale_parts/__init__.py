"""What benchmarks/scale_out.py is made of: judgments on disk, screenings in their own processes, a peer, a page."""
