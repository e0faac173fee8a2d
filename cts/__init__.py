"""coopcts: a property-based conformance test suite for Vulkan cooperative matrices and vectors."""

__version__ = "0.1.0"
