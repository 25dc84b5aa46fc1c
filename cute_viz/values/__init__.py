"""The values that every reader hands over and every command takes: instructions."""
