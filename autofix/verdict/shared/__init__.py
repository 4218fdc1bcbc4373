"""What laws and questions alike see of a program: targets and weights, calls with gradients off, second names."""
