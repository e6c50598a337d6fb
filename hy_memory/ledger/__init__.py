"""The truth: every record, version, vector and change, in one transactional store."""
