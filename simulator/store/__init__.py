"""Where the objects of the pocket cluster are: versions, history, deletion, garbage collection."""
