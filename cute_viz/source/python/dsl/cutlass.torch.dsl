def dtype(kind):
    return kind
