# Reference values of a cumulative link model with scale effects: writes scale_use.json from mixed_models.csv.
# Run it in this folder: Rscript scale_use.R
# Written with R 4.2.2, ordinal 2022.11-16. R divides by exp(zeta * group).
suppressMessages({library(ordinal); library(jsonlite)})
rows <- subset(read.csv("mixed_models.csv"), design == "latin_square")
rows$group <- rows$participant %% 2
fit <- clm(factor(rating) ~ condition, scale = ~group, data = rows)
write_json(list(
  thresholds = unname(fit$alpha), beta = unname(fit$beta), zeta = unname(fit$zeta),
  log_likelihood = as.numeric(logLik(fit))), "scale_use.json", digits = 10, auto_unbox = TRUE)
