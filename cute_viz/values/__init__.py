"""What every reader hands over and every command takes: types of elements, pointers, each with what is known of it."""
