"""The UVM runtime of the simulator: pages fault in on demand, travel in batches or as a fluid, and push out the oldest."""
