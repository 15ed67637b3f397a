"""Benchmarks: ratios measured in one run, since machines and their load differ."""
