"""What `sample_data/generate.py` is made of; see sample_data/README.md for the story."""
