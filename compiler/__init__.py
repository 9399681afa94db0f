"""How passes are written, found and run; the Python API and the command line."""
