# Data sets that come with R packages and the models that lmerTest, glmmTMB and ordinal fit to them.
# Rscript packages.R FOLDER writes one CSV per data set and packages.json to FOLDER; test_mixed_packages.py runs it.
suppressMessages({library(lmerTest); library(glmmTMB); library(ordinal); library(jsonlite)})
invisible(Sys.setlocale("LC_COLLATE", "C"))
folder <- commandArgs(TRUE)[1]
from <- function(name, package) {
  found <- new.env(); data(list = name, package = package, envir = found); as.data.frame(found[[name]])
}
tables <- list(
  sleepstudy = from("sleepstudy", "lme4"), Dyestuff2 = from("Dyestuff2", "lme4"), Pastes = from("Pastes", "lme4"),
  cake = from("cake", "lme4"), Machines = from("Machines", "nlme"), Oats = from("Oats", "nlme"),
  Orthodont = from("Orthodont", "nlme"), bacteria = from("bacteria", "MASS"), wine = from("wine", "ordinal"))
herds <- from("cbpp", "lme4")
tables$cbpp <- data.frame(herd = rep(herds$herd, herds$size), period = rep(herds$period, herds$size),
                          sick = unlist(Map(function(n, all) rep(1:0, c(n, all - n)), herds$incidence, herds$size)))
models <- list(
  c("sleepstudy", "Reaction ~ poly(Days, 2) + (1 | Subject)", "gaussian"),
  c("sleepstudy", "-1000/Reaction ~ scale(Days, scale = FALSE) + (scale(Days, scale = FALSE) || Subject)", "gaussian"),
  c("sleepstudy", "log1p(Reaction) ~ as.factor(Days) + (Days | Subject)", "gaussian"),
  c("Dyestuff2", "Yield ~ 1 + (1 | Batch)", "gaussian"),
  c("Pastes", "strength ~ cask + (1 | batch/cask)", "gaussian"),
  c("cake", "angle ~ recipe * temp + (1 | replicate/recipe)", "gaussian"),
  c("Machines", "score ~ Machine + (Machine | Worker)", "gaussian"),
  c("Machines", "score ~ Machine + (1 | Worker/Machine)", "gaussian"),
  c("Oats", "yield ~ factor(nitro) * Variety + (1 | Block/Variety)", "gaussian"),
  c("Orthodont", "distance ~ I(age - 11) * Sex + (I(age - 11) | Subject)", "gaussian"),
  c("bacteria", "y ~ trt + week + (1 | ID)", "binary"),
  c("cbpp", "sick ~ factor(period) + (1 | herd)", "binary"),
  c("wine", "rating ~ temp * contact + (1 | judge)", "ordinal"))
options(contrasts = c("contr.sum", "contr.poly"))
for (name in names(tables)) {
  write.csv(tables[[name]], file.path(folder, paste0(name, ".csv")), row.names = FALSE)
  # Read again, so that factors have their levels in the order of their characters, as in karat.
  tables[[name]] <- read.csv(file.path(folder, paste0(name, ".csv")), stringsAsFactors = TRUE)
}
tables$wine <- transform(tables$wine, rating = ordered(rating), judge = factor(judge))
tight <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5))
covariances <- function(v) lapply(v, function(one) as.vector(as.matrix(one)))
fit <- function(model) {
  f <- as.formula(model[2]); d <- tables[[model[1]]]
  own <- list(data = model[1], formula = model[2], family = model[3])
  if (model[3] == "gaussian") {
    m <- lmer(f, d, control = tight); table <- coef(summary(m)); tests <- anova(m)
    v <- VarCorr(m); theta <- getME(m, "theta")
    own <- c(own, list(df = table[, "df"], tests = rownames(tests), statistic = tests[["F value"]],
                       below = tests$DenDF, singular = isSingular(m)))
  } else if (model[3] == "binary") {
    m <- glmmTMB(f, d, family = binomial); table <- coef(summary(m))$cond; v <- VarCorr(m)$cond
  } else {
    m <- clmm(f, d); table <- coef(summary(m)); v <- VarCorr(m)
  }
  c(own, list(names = rownames(table), estimate = table[, 1], se = table[, 2], log_likelihood = as.numeric(logLik(m)),
              variances = lapply(split(covariances(v), sub("\\.1$", "", names(v))), unlist)))
}
found <- lapply(models, function(model) suppressMessages(fit(model)))
write(toJSON(found, digits = NA, auto_unbox = FALSE), file.path(folder, "packages.json"))
