"""The oracle: what the two APIs permit, computed from programs with NumPy alone."""
