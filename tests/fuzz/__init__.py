"""Fuzzing: `make fuzz`, and a little of it in every `make test` (tests/security/test_fuzz.py)."""
