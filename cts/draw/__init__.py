"""Hypothesis strategies: few, telling draws that shrink to something a person can read."""
