# Mixed models with slopes and nested terms by lme4, glmmTMB and ordinal, written to glrm_slopes.json.
# Run in this folder after glrm_slopes_data.py. Tolerances are tighter than the packages' own, so that what is left of a
# difference is not theirs; clmm then warns once that a step of its inner search was too short to matter.
suppressMessages({library(lme4); library(glmmTMB); library(ordinal); library(jsonlite)})

d <- read.csv("glrm_slopes.csv", stringsAsFactors = TRUE)
d$rating <- ordered(d$rating)
w <- read.csv("glrm_rounds.csv", stringsAsFactors = TRUE)
w$rating <- ordered(w$rating)

tight <- glmerControl(optimizer = "bobyqa", tolPwrss = 1e-12, optCtrl = list(rhoend = 1e-9, maxfun = 1e5),
                      check.conv.grad = "ignore")
tight_lmer <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10, maxfun = 1e5),
                          check.conv.grad = "ignore")
tight_tmb <- glmmTMBControl(optimizer = optim, optArgs = list(method = "BFGS"), optCtrl = list(reltol = 1e-15, maxit = 1e4))
tight_clmm <- clmm.control(method = "nlminb", gradTol = 1e-7, maxIter = 200, rel.tol = 1e-13, abs.tol = 0, x.tol = 0)

covariances <- function(v) lapply(v, function(one) unname(matrix(as.numeric(one), nrow(one))))
of_lme4 <- function(fit) {
  groups <- VarCorr(fit)
  list(log_likelihood = as.numeric(logLik(fit)), coefficients = unname(fixef(fit)),
       standard_errors = unname(sqrt(diag(as.matrix(vcov(fit))))), covariances = covariances(groups),
       residual = if (inherits(fit, "lmerMod")) sigma(fit)^2 else NULL, theta = unname(getME(fit, "theta")),
       effects = lapply(ranef(fit), function(one) unname(as.matrix(one))))
}
of_tmb <- function(fit) {
  list(log_likelihood = as.numeric(logLik(fit)), coefficients = unname(fixef(fit)$cond),
       standard_errors = unname(sqrt(diag(vcov(fit)$cond))), covariances = covariances(VarCorr(fit)$cond))
}
of_clmm <- function(fit) {
  list(log_likelihood = as.numeric(logLik(fit)), coefficients = unname(fit$beta), thresholds = unname(fit$alpha),
       standard_errors = unname(sqrt(diag(vcov(fit))))[seq_along(fit$beta) + length(fit$alpha)],
       covariances = covariances(VarCorr(fit)), gradient = max(abs(fit$gradient)))
}

binary <- yes ~ x + length + (1 + x | participant) + (1 + x | item)
diagonal <- yes ~ x + length + (1 + x || participant) + (1 | item)
measured <- value ~ x + length + (1 + x | participant) + (1 + x | item)
nested <- ~ 1 + (1 | participant) + (1 | item) + (1 | participant:round) + (1 | item:round)

values <- list(
  versions = list(R = paste(R.version$major, R.version$minor, sep = "."), lme4 = as.character(packageVersion("lme4")),
                  glmmTMB = as.character(packageVersion("glmmTMB")), ordinal = as.character(packageVersion("ordinal"))),
  binary_lme4 = of_lme4(glmer(binary, d, binomial, control = tight)),
  binary_glmmTMB = of_tmb(glmmTMB(binary, d, binomial, control = tight_tmb)),
  binary_diagonal = of_lme4(glmer(diagonal, d, binomial, control = tight)),
  binary_one_factor = of_tmb(glmmTMB(yes ~ x + (1 + x | participant), d, binomial, control = tight_tmb)),
  gaussian_ml = of_lme4(lmer(measured, d, REML = FALSE, control = tight_lmer)),
  gaussian_reml = of_lme4(lmer(measured, d, control = tight_lmer)),
  ordinal_slopes = of_clmm(clmm(rating ~ x + length + (1 + x | participant) + (1 + x | item), d, control = tight_clmm)),
  ordinal_one_factor = of_clmm(clmm(rating ~ x + (1 + x | participant), d, control = tight_clmm)),
  rounds_binary = of_lme4(glmer(update(nested, yes ~ .), w, binomial, control = tight)),
  rounds_binary_glmmTMB = of_tmb(glmmTMB(update(nested, yes ~ .), w, binomial, control = tight_tmb)),
  rounds_ml = of_lme4(lmer(update(nested, value ~ .), w, REML = FALSE, control = tight_lmer)),
  rounds_reml = of_lme4(lmer(update(nested, value ~ .), w, control = tight_lmer))
)
for (name in names(values)) values[[name]]$effects <- if (name %in% c("gaussian_reml", "binary_lme4")) values[[name]]$effects
write_json(values, "glrm_slopes.json", digits = 12, auto_unbox = TRUE, pretty = TRUE)
