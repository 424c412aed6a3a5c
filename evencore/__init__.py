"""evencore: what the webhook, the controller and the certificates share."""
