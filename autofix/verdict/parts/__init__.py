"""What an edit is made of, so that each part can be left out by itself."""
