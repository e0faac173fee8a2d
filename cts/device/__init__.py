"""Devices: the protocol, the supervised process, and the Vulkan server in it."""
