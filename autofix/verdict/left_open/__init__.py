"""What the code leaves open: what is meant where two readings decide otherwise and no law; one matter a module."""
