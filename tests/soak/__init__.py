"""Stories that chance tells about a cluster and us; `make soak`, and a few in every test run."""
