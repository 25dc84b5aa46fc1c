"""Facts about layouts and accesses."""
