"""From a `Comparison` to charts, HTML, PDF and JSON."""
