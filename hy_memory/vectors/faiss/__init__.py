"""The default backend: exact search in process, over working sets built from the ledger."""
