"""Data of g10c: programs, machines, plans, their text forms and their errors. No solving, no simulation."""
