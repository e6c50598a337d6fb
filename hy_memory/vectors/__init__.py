"""Vector backends: each folder or module answers the two legs of a search for one engine."""
