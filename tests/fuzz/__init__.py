"""Fuzzing: what is read from a user gives an answer or one clean error."""
