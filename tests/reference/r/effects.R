# Effects of tasks and their conditional variances by lme4 and ordinal, on the answers of crossed.csv:
#   Rscript effects.R        (in this folder, after crossed.R; writes effects.json)
suppressMessages({ library(lme4); library(ordinal); library(jsonlite) })
d <- read.csv("crossed.csv")
d <- d[d$round == 1, ]
d$worker <- factor(d$worker); d$task <- factor(d$task)
tight <- glmerControl(optimizer = "bobyqa", tolPwrss = 1e-13, optCtrl = list(rhoend = 1e-9, maxfun = 1e5))
binary <- glmer(binary ~ 1 + (1 | worker) + (1 | task), d, family = binomial, control = tight)
ordered_ <- clmm(factor(ordinal) ~ 1 + (1 | worker) + (1 | task), data = d, Hess = TRUE,
                 control = clmm.control(gradTol = 1e-8, maxIter = 200, innerCtrl = "noWarn"))
of_lme4 <- ranef(binary, condVar = TRUE)$task
values <- list(
  made_by = list(R = as.character(getRversion()), lme4 = as.character(packageVersion("lme4")),
                 ordinal = as.character(packageVersion("ordinal"))),
  binary = list(task = rownames(of_lme4), effect = of_lme4[, 1], variance = as.numeric(attr(of_lme4, "postVar"))),
  ordinal = list(task = rownames(ranef(ordered_)$task), effect = ranef(ordered_)$task[, 1],
                 variance = condVar(ordered_)$task[, 1], thresholds = unname(ordered_$alpha))
)
write(toJSON(values, auto_unbox = TRUE, digits = 10, pretty = TRUE), "effects.json")
