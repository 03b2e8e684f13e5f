"""What a soft tree says, in words and pictures."""
