# Contrasts of the bundled ratings (datasets "likert", its test trials) by ordinal, glmmTMB, lmerTest and emmeans:
#   Rscript contrasts.R        (in this folder; reads contrasts.csv, which contrasts_data.py writes; writes contrasts.json)
suppressMessages({
  library(lmerTest); library(glmmTMB); library(ordinal); library(emmeans); library(car); library(jsonlite)
})
emm_options(lmer.df = "satterthwaite", msg.interaction = FALSE)
options(contrasts = c("contr.sum", "contr.poly"))
d <- read.csv("contrasts.csv", stringsAsFactors = TRUE)
d$yes <- as.integer(d$response > 3)
d$place <- as.numeric(scale(d$trial))
columns <- function(x) lapply(as.list(as.data.frame(x)), function(one) if (is.factor(one)) as.character(one) else one)

described <- function(m, ...) {
  cells <- emmeans(m, ~ order * integration, ...)
  list(
    means_order = columns(summary(emmeans(m, ~ order, ...), infer = c(TRUE, FALSE))),
    means_cells = columns(summary(emmeans(m, ~ integration * order, ...), infer = c(TRUE, FALSE))),
    pairs = columns(summary(pairs(emmeans(m, ~ integration * order, ...), adjust = "holm"))),
    difference = columns(summary(contrast(cells, interaction = c("pairwise", "pairwise")), infer = c(TRUE, TRUE)))
  )
}

rated <- clmm(factor(response) ~ order * integration + (1 | participant) + (1 | item), data = d, Hess = TRUE,
              control = clmm.control(gradTol = 1e-8, maxIter = 300, innerCtrl = "noWarn"))
b <- coef(rated)[names(rated$beta)]; v <- vcov(rated)[names(b), names(b)]
rated_tests <- list(term = c("order", "integration", "order:integration"), chisq = unname((b / sqrt(diag(v)))^2))

binary <- glmmTMB(yes ~ order * integration + (1 | participant) + (1 | item), d, family = binomial)
tests_binary <- Anova(binary, type = 3)

control <- lmerControl(optCtrl = list(ftol_abs = 1e-14, xtol_abs = 1e-12))
measured <- lmer(response ~ order * integration + (1 + order | participant) + (1 | item), d, control = control)
tests_measured <- anova(measured, type = 3)
# Westfall, Kenny and Judd (2014): columns are -1 and 1, so that the variances are summed.
spread <- as.data.frame(VarCorr(measured))
total <- sum(spread$vcov[is.na(spread$var2)])

trend <- clmm(factor(response) ~ order * trial10 + (1 | participant) + (1 | item),
              data = transform(d, trial10 = (trial - mean(trial)) / 10), Hess = TRUE,
              control = clmm.control(gradTol = 1e-8, maxIter = 300, innerCtrl = "noWarn"))
timed <- lmer(log(rt) ~ order * place + (1 + place | participant), d, control = control)
timed_slopes <- columns(summary(emtrends(timed, ~ order, var = "place"), infer = c(TRUE, TRUE)))

write_json(list(
  made_by = sapply(simplify = FALSE, c("ordinal", "glmmTMB", "lme4", "lmerTest", "emmeans", "car"),
                   function(p) as.character(packageVersion(p))),
  ordinal = c(list(tests = rated_tests), described(rated)),
  binary = c(list(tests = list(term = rownames(tests_binary)[-1], chisq = tests_binary$Chisq[-1],
                               p = tests_binary[-1, 3])), described(binary)),
  measured = c(list(tests = list(term = rownames(tests_measured), F = tests_measured[["F value"]],
                                 denominator = tests_measured$DenDF, p = tests_measured[["Pr(>F)"]]),
                    total = total), described(measured)),
  slopes = list(coefficients = as.list(unname(trend$beta)),
                covariance = unname(vcov(trend)[names(trend$beta), names(trend$beta)]),
                timed = timed_slopes, deviation = sd(d$trial))
), "contrasts.json", digits = 10, auto_unbox = TRUE, pretty = TRUE)
