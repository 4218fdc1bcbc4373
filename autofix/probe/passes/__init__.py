"""What passes of a loop hand to each other, as a reference run sees it, and where that is cut."""
