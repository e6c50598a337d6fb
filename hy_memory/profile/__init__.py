"""What people say about themselves: claims in one text, and the profile that claims of many texts make."""
