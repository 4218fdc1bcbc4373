"""What an edit does to the gradients, how far it may be trusted, and which of several comes first."""
