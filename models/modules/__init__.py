"""Printed PyTorch modules: their text, and the layers that they call, with shapes."""
