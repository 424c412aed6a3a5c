"""The webhook's certificates: made, renewed and trusted, without anybody's help.

For: an authority of our own and serving certificates from it, kept in one Secret; what API servers
are told to trust; the files that the webhook serves from. docs/certificates.md has the map.
Not for: talking to an API server. `ports` says what is needed of one, `evencore.kube` fulfils it.
"""
