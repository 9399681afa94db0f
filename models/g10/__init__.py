"""Importer of the networks and kernel times that the G10 artifact publishes (MICRO'23, github.com/platformxlab/G10)."""
