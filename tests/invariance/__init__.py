"""Joint-distribution tests: Geweke's, and simulation-based calibration."""
