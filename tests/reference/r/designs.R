# A balanced design whose tests have two denominator degrees of freedom, and ratings by the complementary log-log.
# Run from this folder: Rscript designs.R   writes designs.json
suppressMessages({library(lmerTest); library(pbkrtest); library(ordinal); library(jsonlite)})
cells <- expand.grid(answer = 1:3, order = c("first", "second"), list = c("A", "B", "C"), stringsAsFactors = FALSE)
cells$rating <- c(38, 43, 42, 45, 26, 41, 43, 46, 50, 49, 48, 44, 57, 47, 48, 59, 52, 66)
options(contrasts = c("contr.sum", "contr.poly"))
cells$order <- factor(cells$order); cells$list <- factor(cells$list)
m <- lmer(rating ~ order + (1 | list/order), cells)
table <- coef(summary(m, ddf = "Kenward-Roger"))
test <- anova(m, ddf = "Kenward-Roger")
wine <- read.csv("mixed/wine.csv", stringsAsFactors = TRUE)
options(contrasts = c("contr.treatment", "contr.poly"))
wine$rating <- ordered(wine$rating); wine$judge <- factor(wine$judge)
# clmm of this version exchanges cloglog and loglog; clm does not. The grid shows whose F(x) is 1 - exp(-exp(x)).
fit <- clmm(rating ~ temp + contact + (1 | judge), wine, link = "loglog", nAGQ = 10)
by_grid <- function(m) {
  at <- c(-Inf, m$alpha, Inf); eta <- drop(model.matrix(~ temp + contact, wine)[, -1] %*% m$beta)
  z <- seq(-8, 8, length.out = 801); w <- dnorm(z) * (z[2] - z[1]); y <- as.integer(wine$rating)
  below <- function(x) 1 - exp(-exp(x))
  sum(sapply(split(seq_along(y), wine$judge), function(i) log(sum(w * sapply(z * c(m$ST[[1]]), function(u)
    prod(below(at[y[i] + 1] - eta[i] - u) - below(at[y[i]] - eta[i] - u)))))))
}
stopifnot(abs(by_grid(fit) - as.numeric(logLik(fit))) < 1e-4)
estimates <- coef(summary(fit))
write_json(list(
  two_degrees = list(data = list(order = as.character(cells$order), list = as.character(cells$list), rating = cells$rating),
                    se = unname(table[, 2]), df = unname(table[, 3]), F = test[["F value"]], below = test$DenDF),
  wine_cloglog = list(names = rownames(estimates), estimate = unname(estimates[, 1]), se = unname(estimates[, 2]),
                      log_likelihood_by_grid = by_grid(fit), log_likelihood = as.numeric(logLik(fit)), deviation = c(fit$ST[[1]])),
  versions = list(R = R.version.string, lmerTest = as.character(packageVersion("lmerTest")),
                  pbkrtest = as.character(packageVersion("pbkrtest")), ordinal = as.character(packageVersion("ordinal")))),
  "designs.json", auto_unbox = TRUE, digits = NA, pretty = TRUE)
