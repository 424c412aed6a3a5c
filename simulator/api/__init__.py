"""The Kubernetes API over HTTP: how it is asked and answered.

Inner to outer: `reads`, `writes` and `watching` know the store; `forms` what answers look like;
`app` turns requests into calls of these; `http` is bytes on a connection.
"""
