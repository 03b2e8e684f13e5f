# Fits with dbarts on request, a line each, so that this process can be timed and weighed from outside.
suppressPackageStartupMessages(library(dbarts))

numbers <- function(path) readBin(path, "double", file.size(path) / 8)
answer <- function(word) {
  cat(word, "\n", sep = "")
  flush(stdout())
}

answer(Sys.getpid())
requests <- file("stdin", "r")
while (length(line <- readLines(requests, 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  if (words[1] == "load") {
    y <- numbers(words[3])
    X <- matrix(numbers(words[2]), nrow = length(y))
  } else if (words[1] == "fit") {
    fit <- NULL
    given <- as.numeric(words[2:12])
    fit <- bart2(
      X, y, n.trees = given[1], base = given[2], power = given[3], k = given[4], sigdf = given[5], sigquant = given[6],
      n.cuts = given[7], n.burn = given[8], n.samples = given[9], n.chains = 1L, n.threads = given[10], seed = given[11],
      keepTrees = TRUE, keepTrainingFits = FALSE, verbose = FALSE
    )
    writeBin(as.vector(fit$sigma), words[13])
  } else if (words[1] == "predict") {
    rows <- matrix(numbers(words[2]), ncol = ncol(X))
    writeBin(as.vector(predict(fit, rows)), words[3])
  }
  answer("done")
}
