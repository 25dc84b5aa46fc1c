"""Pictures inside other tools: Sphinx, Markdown (MkDocs, Zensical), notebooks."""
