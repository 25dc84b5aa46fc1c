"""Whole files -> their objects: what a file of C++ or Python, a compiler's text or CuTe IR defines, by scope, name and line."""
