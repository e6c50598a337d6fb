"""The coding chain: how code got to where it is, from the edits of agents and from a repository's commits."""
