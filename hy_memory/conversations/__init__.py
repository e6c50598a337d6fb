"""Conversations: which memory came before and after which, and what belongs to one episode."""
