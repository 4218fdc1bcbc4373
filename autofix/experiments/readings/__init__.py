"""What the code can mean by what torch refuses, and which references are worth comparing with."""
