"""Mutating admission webhooks: who is called, with what, over which connection, to what effect."""
