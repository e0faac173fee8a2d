"""A Vulkan driver behind the device protocol. Runs in the device server only."""
