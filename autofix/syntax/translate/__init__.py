"""Says in torch what a program computes with numpy, from where values leave torch to where they come back."""
