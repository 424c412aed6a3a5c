"""Patches: pure functions from an object and a patch to another object."""
