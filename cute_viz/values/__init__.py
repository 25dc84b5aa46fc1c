"""What every reader hands over and every command takes: types, pointers, instructions, each with what is known of it."""
