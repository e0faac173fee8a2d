"""Registers the plugin, so that ``pytest cases/`` works in a checkout."""

pytest_plugins = ["cts.plugin"]
