"""Tables as the inputs and outputs of soft trees."""
