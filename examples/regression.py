"""Predict numbers with intervals: Friedman's function of five columns, hidden among ten."""

import numpy as np

import baytree as bt

train = bt.datasets.friedman(n=500, seed=1)
test = bt.datasets.friedman(n=200, seed=2)

posterior = bt.sample(bt.CART(), train.design(), warmup=5000, draws=1000, thin=5, seed=1)
print(posterior.summary())

mean = posterior.predict(test.X)
print(f"\nroot mean squared error: {np.sqrt(np.mean((mean - test.y) ** 2)):.2f}, of the mean alone: {test.y.std():.2f}")

# Where a new y will lie: what the trees do not agree on, and the noise.
lower, upper = np.quantile(posterior.predict(test.X, kind="predictive"), [0.05, 0.95], axis=(0, 1))
print(f"90% intervals hold {np.mean((lower <= test.y) & (test.y <= upper)):.0%} of the new values\n")

print("      y    mean   90% interval")
for y, m, low, high in list(zip(test.y, mean, lower, upper, strict=True))[:8]:
    print(f"{y:7.2f} {m:7.2f}   {low:.2f} to {high:.2f}")
