"""Pictures in documents: what a block of a document asks for, the text that shows it."""
