# Reference values of ordinal location-scale models, by clm and clmm2 of the package ordinal (Christensen 2022).
# Rscript scale.R writes scale.json: the wine data of the package, the models and what they found.
# clmm2 is asked for 20 nodes; with one, the Laplace approximation, its log-likelihood is lower by 0.03.
library(ordinal)
library(jsonlite)

wine$t <- ifelse(wine$temp == "warm", 0.5, -0.5)
wine$c <- ifelse(wine$contact == "yes", 0.5, -0.5)
mixed <- clmm2(rating ~ t + c, scale = ~t, random = judge, data = wine, Hess = TRUE, nAGQ = 20)
fixed <- clm(rating ~ t + c, scale = ~t, data = wine)
write_json(
  list(
    version = as.character(packageVersion("ordinal")),
    mixed = list(log_likelihood = as.numeric(logLik(mixed)), coefficients = unname(c(mixed$Theta, mixed$beta, mixed$zeta)),
                 deviation = unname(mixed$stDev), errors = unname(coef(summary(mixed))[, 2])),
    fixed = list(log_likelihood = as.numeric(logLik(fixed)), coefficients = unname(coef(fixed)),
                 errors = unname(coef(summary(fixed))[, 2]),
                 equal = as.numeric(logLik(clm(rating ~ t + c, data = wine)))),
    data = wine[, c("rating", "t", "c", "judge", "bottle")]
  ),
  "scale.json", digits = 8, auto_unbox = TRUE, dataframe = "columns"
)
