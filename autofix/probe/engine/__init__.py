"""What instruments stand on: where torch's engine and optimizers are tapped, graphs, operators, names."""
