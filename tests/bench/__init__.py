"""The webhook's cost beside two yardsticks in the same run: `make bench`.

Reads from top to bottom: reviews.py (what is sent), servers.py (who answers), agree.py (they do
the same job), plan.py and measure.py (what is measured, in which order), load.py (how it is sent,
in a process of its own), compare.py and report.py (what is told).
Nothing here is a test of speed: machines differ, so figures are printed and never asserted.
"""
