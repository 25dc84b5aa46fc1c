"""What every reader hands over: integers, each with what is known of it."""
