"""The figures of the G10 paper (MICRO'23) from g10c's own results: data as CSV, plots, and a summary against the published values."""
