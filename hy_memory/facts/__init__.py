"""Facts with two times: when they held, and when that was known."""
