"""Mean fields of soft trees."""
