"""Doors that stay open: the page that redraws while one types, served here or by a static site, and the tools of assistants."""
