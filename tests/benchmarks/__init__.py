"""`make bench`: how much longer something takes than the least that could be done, both measured on this machine.

A ratio can be compared between machines and between days; seconds can't. A benchmark stands in a module of this folder
whose name begins with `bench_`, in its list BENCHMARKS.
"""
