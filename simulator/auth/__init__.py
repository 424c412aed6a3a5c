"""Who asks, and what they may: authentication and RBAC, at the door of the API server."""
