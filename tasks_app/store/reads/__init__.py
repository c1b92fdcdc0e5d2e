"""What screens and the supervisor read; nothing here writes."""
