"""What the API server knows of single kinds: defaults, and what may be written. Pure."""
