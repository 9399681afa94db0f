"""Ways to obtain a program: importers of traces, builders, bundled models and machines."""
