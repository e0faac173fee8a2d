"""Reports: the result file's schema and every rendering of it."""
