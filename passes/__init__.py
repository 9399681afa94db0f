"""The passes that come with g10c, one per module."""
