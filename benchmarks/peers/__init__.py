"""hy_memory beside its peers: one data set, one run, one worker process for each library."""
