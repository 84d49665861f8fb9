# Reference values for models written as formulas: Rscript glrm_models.R (in this folder), after glrm_models_simulate.py.
suppressMessages({
  library(lme4); library(lmerTest); library(ordinal); library(glmmTMB); library(car); library(emmeans); library(jsonlite)
})
invisible(Sys.setlocale("LC_COLLATE", "C"))
options(contrasts = c("contr.sum", "contr.poly"))
emm_options(lmer.df = "satterthwaite")
read <- function(name) read.csv(paste0("glrm_models_", name, ".csv"), stringsAsFactors = TRUE)
columns <- function(frame) lapply(as.list(as.data.frame(frame)), function(x) if (is.factor(x)) as.character(x) else x)
tests <- function(anova) c(list(term = rownames(anova)), setNames(columns(anova), make.names(names(anova))))
means <- function(grid, ...) columns(summary(grid, infer = c(TRUE, TRUE), ...))
out <- list(versions = as.list(c(R = paste(R.version$major, R.version$minor, sep = "."), sapply(
  c("lme4", "lmerTest", "ordinal", "glmmTMB", "car", "emmeans"), function(p) as.character(packageVersion(p))))))

# Designs: model.matrix of many formulas over one small table.
small <- head(read("binary"), 40)
small$item <- NULL; small$participant <- NULL
small$flag <- factor(rep(c("FALSE", "TRUE"), 20))
formulas <- c("~ condition", "~ 0 + condition", "~ condition * group", "~ condition:group", "~ 0 + condition:group",
  "~ group + group:condition", "~ group/condition", "~ difficulty * condition", "~ 0 + difficulty + difficulty:condition",
  "~ difficulty:condition", "~ (condition + group + flag)^2", "~ condition * group * flag", "~ condition:flag + group",
  "~ difficulty + I(difficulty^2)", "~ log(length) + scale(difficulty)", "~ condition * difficulty * group - condition:group",
  "~ factor(length)", "~ flag:group + flag", "~ difficulty + difficulty:length - 1", "~ 1")
out$designs <- list()
for (coding in c("sum", "treatment")) {
  options(contrasts = c(paste0("contr.", coding), "contr.poly"))
  for (f in formulas) {
    X <- model.matrix(as.formula(f), small)
    out$designs[[length(out$designs) + 1]] <- list(formula = f, coding = coding, names = I(colnames(X)),
      assign = I(attr(X, "assign")), rank = qr(X)$rank, matrix = unname(X[, , drop = FALSE]))
  }
}
out$small <- columns(small)
options(contrasts = c("contr.sum", "contr.poly"))

# Yes or no.
binary <- read("binary")
f <- correct ~ difficulty * condition + group + (1 | participant) + (1 | item)
m <- glmmTMB(f, binary, family = binomial)
small_m <- glmmTMB(correct ~ difficulty + condition + group + (1 | participant) + (1 | item), binary, family = binomial)
# With its usual tolPwrss of 1e-7 lme4 computes this log-likelihood .0008 too low.
g <- glmer(f, binary, family = binomial, control = glmerControl(optimizer = "bobyqa", tolPwrss = 1e-10,
  optCtrl = list(rhoend = 1e-9, maxfun = 1e5)))
lrt <- anova(small_m, m)
new <- data.frame(difficulty = c(-1, 0.5, 2), condition = c("match", "filler", "mismatch"),
  group = c("expert", "novice", "novice"), participant = c("p03", "p07", "unknown"), item = c("i02", "unknown", "unknown"))
# By root finding: the splines of method = "profile" are off by .002 standard errors.
interval <- confint(m, method = "uniroot", parm = "beta_")[seq_along(fixef(m)$cond), ]
out$binary <- list(
  formula = "correct ~ difficulty * condition + group + (1 | participant) + (1 | item)",
  log_likelihood = as.numeric(logLik(m)), lme4_log_likelihood = as.numeric(logLik(g)),
  names = names(fixef(m)$cond), estimate = unname(fixef(m)$cond), covariance = unname(as.matrix(vcov(m)$cond)),
  variances = list(participant = VarCorr(m)$cond$participant[1], item = VarCorr(m)$cond$item[1]),
  type3 = tests(Anova(m, type = 3)),
  ratio = list(chisq = lrt$Chisq[2], df = lrt$`Chi Df`[2], p = lrt$`Pr(>Chisq)`[2]),
  means_condition = means(emmeans(m, ~ condition, df = Inf)), means_cells = means(emmeans(m, ~ condition * group, df = Inf)),
  means_response = means(emmeans(m, ~ condition, type = "response", df = Inf)),
  pairs = means(pairs(emmeans(m, ~ condition, df = Inf)), adjust = "none"),
  pairs_holm = columns(summary(pairs(emmeans(m, ~ condition, df = Inf)), adjust = "holm"))$p.value,
  profile = unname(interval), profile_names = rownames(interval),
  wald = unname(confint(m, parm = "beta_", method = "wald")[seq_along(fixef(m)$cond), 1:2]),
  predictions = list(
    fixed = predict(m, new, re.form = NA, allow.new.levels = TRUE), random = predict(m, new, allow.new.levels = TRUE),
    response = predict(m, new, allow.new.levels = TRUE, type = "response"))
)
options(contrasts = c("contr.treatment", "contr.poly"))
treated <- glmmTMB(f, binary, family = binomial)
out$binary$treatment <- list(names = names(fixef(treated)$cond), estimate = unname(fixef(treated)$cond),
  type3 = tests(Anova(treated, type = 3)))
options(contrasts = c("contr.sum", "contr.poly"))

# Measured answers.
gaussian <- read("gaussian")
f <- log(rt) ~ condition * group + scale(length) + (1 + condition | participant) + (1 | item)
m <- lmer(f, gaussian, control = lmerControl(optimizer = "nloptwrap",
  optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-14, maxeval = 1e5)))
ml <- update(m, REML = FALSE)
simple <- lmer(log(rt) ~ condition * group + scale(length) + (1 | participant) + (1 | item), gaussian, REML = FALSE,
  control = lmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-14, maxeval = 1e5)))
lrt <- anova(simple, ml, refit = FALSE)
coefficients <- coef(summary(m))
new <- data.frame(length = c(4, 9, 12), condition = c("match", "filler", "mismatch"),
  group = c("expert", "novice", "novice"), participant = c("p03", "p07", "unknown"), item = c("i02", "unknown", "unknown"))
interval <- confint(simple, method = "profile", oldNames = FALSE)
out$gaussian <- list(
  formula = "log(rt) ~ condition * group + scale(length) + (1 + condition | participant) + (1 | item)",
  log_likelihood = as.numeric(logLik(m)), ml_log_likelihood = as.numeric(logLik(ml)),
  names = rownames(coefficients), table = unname(coefficients), residual = sigma(m)^2,
  participant = unname(as.matrix(VarCorr(m)$participant)[1:3, 1:3]), item = VarCorr(m)$item[1],
  anova = tests(anova(m, type = 3)), type3 = tests(Anova(m, type = 3)),
  ml_table = unname(coef(summary(ml))),
  ratio = list(chisq = lrt$Chisq[2], df = lrt$Df[2], p = lrt$`Pr(>Chisq)`[2]),
  means_condition = means(emmeans(m, ~ condition)), means_cells = means(emmeans(m, ~ condition * group)),
  pairs = means(pairs(emmeans(m, ~ condition)), adjust = "none"),
  profile = unname(interval), profile_names = rownames(interval),
  predictions = list(fixed = predict(m, new, re.form = NA, allow.new.levels = TRUE), random = predict(m, new, allow.new.levels = TRUE))
)

tight <- lmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-14, maxeval = 1e5))
curved <- lmer(log(rt) ~ log(length) + difficulty + I(difficulty^2) + condition + (1 | participant) + (1 | item), gaussian,
  control = tight)
out$curved <- list(formula = "log(rt) ~ log(length) + difficulty + I(difficulty^2) + condition + (1 | participant) + (1 | item)",
  estimate = unname(fixef(curved)), means = means(emmeans(curved, ~ condition)),
  moved = means(emmeans(curved, ~ condition, at = list(length = 5, difficulty = 1))))
some <- subset(gaussian, !(condition == "match" & group == "novice"))
empty <- lmer(log(rt) ~ condition * group + (1 | participant) + (1 | item), some, control = tight)
out$empty <- list(formula = "log(rt) ~ condition * group + (1 | participant) + (1 | item)", names = names(fixef(empty)),
  estimate = unname(fixef(empty)), log_likelihood = as.numeric(logLik(empty)),
  means_condition = means(emmeans(empty, ~ condition)), means_cells = means(emmeans(empty, ~ condition * group)))
treated <- lmer(log(rt) ~ condition * group + (1 | participant) + (1 | item), gaussian, control = tight,
  contrasts = list(condition = "contr.treatment", group = "contr.treatment"))
out$treated <- list(names = names(fixef(treated)), estimate = unname(fixef(treated)), type3 = tests(Anova(treated, type = 3)))

# Ordered answers.
rated <- read("ordinal"); rated$rating <- factor(rated$rating)
m <- clmm(rating ~ condition * group + (1 | participant) + (1 | item), rated, Hess = TRUE,
  control = clmm.control(method = "nlminb", gradTol = 1e-6))
first <- clmm(rating ~ condition + group + (1 | participant) + (1 | item), rated)
b <- m$beta; V <- vcov(m)[names(b), names(b)]
assign <- attr(model.matrix(~ condition * group, rated), "assign")[-1]
chisq <- sapply(1:3, function(k) { i <- assign == k; drop(t(b[i]) %*% solve(V[i, i], b[i])) })
lrt <- anova(first, m)
out$ordinal <- list(
  formula = "rating ~ condition * group + (1 | participant) + (1 | item)", log_likelihood = as.numeric(logLik(m)),
  names = names(b), estimate = unname(b), se = unname(sqrt(diag(V))), thresholds = unname(m$alpha),
  variances = list(participant = VarCorr(m)$participant[1], item = VarCorr(m)$item[1]),
  type3 = list(term = c("condition", "group", "condition:group"), Chisq = chisq, Df = tabulate(assign)),
  ratio = list(chisq = lrt$LR.stat[2], df = lrt$df[2]),
  means_condition = means(emmeans(m, ~ condition)), pairs = means(pairs(emmeans(m, ~ condition)), adjust = "none")
)
write_json(out, "glrm_models.json", digits = NA, auto_unbox = TRUE, na = "null", pretty = FALSE)
