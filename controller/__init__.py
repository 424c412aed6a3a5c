"""The controller: what it sees of a cluster becomes labels, releases, deletions and Events."""
