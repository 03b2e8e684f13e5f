"""What posteriors of all families share: draws, summaries, predictions, files, ArviZ."""
