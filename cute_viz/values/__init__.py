"""What every reader hands over and every command takes: integers, types, pointers, instructions, and what is known of each."""
