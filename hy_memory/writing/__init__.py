"""Writing: from what a caller hands over to one transaction of the ledger, then to the projections."""
