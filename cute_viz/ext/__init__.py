"""Pictures inside the tools that build sites and books: Sphinx, and Markdown (MkDocs, Zensical)."""
