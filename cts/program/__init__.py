"""Programs as data: what a shader does, which features it needs, and which records it uses."""
