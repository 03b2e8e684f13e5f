"""Whether chains agree: R-hat and effective sizes, of series and of predictions, and what to try where they do not."""
