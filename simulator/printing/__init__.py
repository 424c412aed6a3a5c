"""What `kubectl get` shows: the columns of each kind, with the values of the real printers."""
