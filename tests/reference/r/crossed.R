# Crossed random intercepts by lme4, glmmTMB and ordinal, on answers simulated here:
#   Rscript crossed.R        (in this folder; writes crossed.csv and crossed.json)
suppressMessages({
  library(lme4); library(glmmTMB); library(ordinal); library(jsonlite)
})
set.seed(20)
workers <- 36; tasks <- 18
d <- expand.grid(round = 1:3, task = 1:tasks, worker = 1:workers)
d <- d[d$round == 1 | runif(nrow(d)) < 0.6, ]          # repeated cells
d <- d[runif(nrow(d)) < 0.8, ]                         # missing cells
d$x <- round(rnorm(nrow(d)), 3)
cell <- matrix(rnorm(workers * tasks, 0, 0.9), workers)
eta <- rnorm(workers, 0, 1.1)[d$worker] + rnorm(tasks, 0, 1.5)[d$task] + cell[cbind(d$worker, d$task)] + 0.6 * d$x
d$binary <- as.integer(eta + rlogis(nrow(d)) > 0.3)
d$ordinal <- findInterval(eta + rlogis(nrow(d)), c(-2, 0, 1.5)) + 1
d$measured <- round(2 + eta + rnorm(nrow(d)), 4)
d <- d[c("worker", "task", "round", "x", "binary", "ordinal", "measured")]
write.csv(d, "crossed.csv", row.names = FALSE)
d <- read.csv("crossed.csv")
d$worker <- factor(d$worker); d$task <- factor(d$task); d$cell <- interaction(d$worker, d$task, drop = TRUE)

variances <- function(m) { v <- as.data.frame(VarCorr(m)); setNames(as.list(v$vcov), v$grp) }
tight <- glmerControl(optimizer = "bobyqa", tolPwrss = 1e-13, optCtrl = list(rhoend = 1e-9, maxfun = 1e5))
binary <- glmer(binary ~ x + (1 | worker) + (1 | task), d, family = binomial, control = tight)
with_cell <- glmer(binary ~ x + (1 | worker) + (1 | task) + (1 | cell), d, family = binomial, control = tight)
tmb <- glmmTMB(binary ~ x + (1 | worker) + (1 | task), d, family = binomial)
tmb_cell <- glmmTMB(binary ~ x + (1 | worker) + (1 | task) + (1 | cell), d, family = binomial)
ordered_ <- clmm(factor(ordinal) ~ x + (1 | worker) + (1 | task), data = d, Hess = TRUE,
                 control = clmm.control(gradTol = 1e-8, maxIter = 200, innerCtrl = "noWarn"))
lmer_control <- lmerControl(optCtrl = list(ftol_abs = 1e-14, xtol_abs = 1e-12))
ml <- lmer(measured ~ x + (1 | worker) + (1 | task), d, REML = FALSE, control = lmer_control)
reml <- lmer(measured ~ x + (1 | worker) + (1 | task), d, REML = TRUE, control = lmer_control)
ml_cell <- lmer(measured ~ x + (1 | worker) + (1 | task) + (1 | cell), d, REML = FALSE, control = lmer_control)

few <- d[d$round == 1 & (as.integer(d$worker) + as.integer(d$task)) %% 4 == 0, ]   # a sparse design
sparse <- glmer(binary ~ 1 + (1 | worker) + (1 | task), few, family = binomial, control = tight)

lme4_values <- function(m) list(loglik = as.numeric(logLik(m)), coefficients = as.list(unname(fixef(m))),
                                errors = as.list(unname(sqrt(diag(as.matrix(vcov(m)))))), variances = variances(m))
tmb_values <- function(m) list(loglik = as.numeric(logLik(m)), coefficients = as.list(unname(fixef(m)$cond)),
                               errors = as.list(unname(sqrt(diag(vcov(m)$cond)))),
                               variances = lapply(VarCorr(m)$cond, function(v) v[1]))
write_json(list(
  made_by = list(R = as.character(getRversion()), lme4 = as.character(packageVersion("lme4")),
                 glmmTMB = as.character(packageVersion("glmmTMB")), ordinal = as.character(packageVersion("ordinal"))),
  binary = lme4_values(binary), binary_tmb = tmb_values(tmb),
  binary_cell = lme4_values(with_cell), binary_cell_tmb = tmb_values(tmb_cell), sparse = lme4_values(sparse),
  ordinal = list(loglik = as.numeric(logLik(ordered_)), thresholds = as.list(unname(ordered_$alpha)),
                 coefficients = as.list(unname(ordered_$beta)), errors = as.list(unname(sqrt(diag(vcov(ordered_)))["x"])),
                 variances = lapply(VarCorr(ordered_), function(v) v[1])),
  ml = lme4_values(ml), reml = lme4_values(reml), ml_cell = lme4_values(ml_cell)
), "crossed.json", digits = 10, auto_unbox = TRUE, pretty = TRUE)
