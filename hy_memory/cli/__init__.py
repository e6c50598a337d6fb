"""The command line: the client's verbs for a terminal, and what keeps a store in order."""
