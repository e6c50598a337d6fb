"""What grows and what does not: cost against store, user, users asked, filters, threads and processes."""
