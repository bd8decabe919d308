"""Read files and databases, map their columns to roles, and collect every problem on the way."""
