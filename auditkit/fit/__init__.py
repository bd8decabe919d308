"""From a table of past candidates to priors, an `Instance`, and how well they fit."""
