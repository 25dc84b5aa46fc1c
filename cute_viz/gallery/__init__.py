"""Galleries: specs become pictures and an index; only what has changed is drawn, or what lies there is checked."""
