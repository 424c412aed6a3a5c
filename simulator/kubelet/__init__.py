"""Kubelets: admission by CPUs and NUMA nodes, the life of pods, and what nodes say of themselves.

For: nodes that behave to the API as real ones. Not for: running anything; containers are times.
"""
