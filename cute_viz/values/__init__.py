"""What every reader hands over and every command takes: integers, types of elements, pointers, each with what is known of it."""
