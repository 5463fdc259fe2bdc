# A generalized additive model (mgcv has threads of its own) and LAPACK as R calls it.
library(mgcv)
set.seed(5)
rows <- 4000
data <- data.frame(a = runif(rows), b = runif(rows), c = runif(rows))
data$y <- sin(6 * data$a) + data$b^2 + rnorm(rows, sd = 0.1)
model <- bam(y ~ s(a) + s(b) + s(c), data = data, discrete = TRUE, nthreads = 2)
cat(sprintf("%.7g", c(coef(model), model$sig2)), "\n")
A <- matrix(rnorm(250 * 250), 250)
cat(sprintf("%.7g", c(sum(svd(A)$d), sum(abs(qr.R(qr(A, LAPACK = TRUE)))), sum(solve(crossprod(A) + diag(250))),
                      sum(Mod(eigen(A, only.values = TRUE)$values)))), "\n")
