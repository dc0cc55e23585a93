"""Arrays and numbers in, arrays out; nothing here knows of files or tables."""
