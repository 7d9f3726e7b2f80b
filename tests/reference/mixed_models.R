# Reference values of linear, logistic and ordinal mixed models: writes mixed_models.csv (the data) and
# mixed_models.json (the fits). Run it in this folder: Rscript mixed_models.R
# Written with R 4.2.2, lme4 1.1-31, lmerTest 3.1-3, ordinal 2022.11-16.
suppressMessages({library(lmerTest); library(ordinal); library(jsonlite)})

set.seed(20261123)
simulate_design <- function(name, people, items, keep, between_items, sd_person, sd_item) {
  rows <- expand.grid(item = 1:items, participant = 1:people)
  code <- if (between_items) rows$item %% 2 else (rows$participant + rows$item) %% 2
  rows$condition <- code - .5
  draw <- function(n, sd, rho) {
    z <- matrix(rnorm(2 * n), n)
    cbind(sd[1] * z[, 1], sd[2] * (rho * z[, 1] + sqrt(1 - rho^2) * z[, 2]))
  }
  person <- draw(people, sd_person, .5); thing <- draw(items, sd_item, -.4)
  latent <- person[rows$participant, 1] + thing[rows$item, 1] +
    (1 + person[rows$participant, 2] + thing[rows$item, 2] * !between_items) * rows$condition
  rows$y <- round(latent + rnorm(nrow(rows), 0, .8), 3)
  rows$yes <- as.integer(runif(nrow(rows)) < plogis(1.5 * latent))
  rows$rating <- as.integer(cut(1.5 * latent + rlogis(nrow(rows)), c(-Inf, -2, -.8, .5, 2, Inf)))
  rows <- rows[runif(nrow(rows)) < keep, ]
  cbind(design = name, rows)
}
data <- rbind(
  simulate_design("latin_square", 30, 24, 1, FALSE, c(.6, .7), c(.5, .6)),
  simulate_design("incomplete", 40, 20, .7, FALSE, c(.8, .6), c(.4, .6)),
  simulate_design("between_items", 30, 24, 1, TRUE, c(.7, .6), c(.5, 0)))
write.csv(data, "mixed_models.csv", row.names = FALSE, quote = FALSE)

structures <- list(
  intercepts = "(1 | participant) + (1 | item)",
  participant_slope = "(1 | participant) + (0 + condition | participant) + (1 | item)",
  uncorrelated = "(1 | participant) + (0 + condition | participant) + (1 | item) + (0 + condition | item)",
  participant_correlated = "(1 + condition | participant) + (1 | item)",
  correlated = "(1 + condition | participant) + (1 + condition | item)")
variances <- function(fit) {
  parts <- as.data.frame(VarCorr(fit))
  parts[is.na(parts$var2) | parts$grp == "Residual", c("grp", "var1", "vcov")]
}
correlations <- function(fit) {
  parts <- as.data.frame(VarCorr(fit))
  parts[!is.na(parts$var2), c("grp", "sdcor")]
}
fits <- list()
for (design in unique(data$design)) {
  rows <- data[data$design == design, ]
  for (name in names(structures)) {
    if (design == "between_items" && name %in% c("uncorrelated", "correlated")) next
    random <- structures[[name]]
    fit <- lmer(as.formula(paste("y ~ condition +", random)), rows, control = lmerControl(
      optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10)))
    table <- coef(summary(fit))
    fits[[length(fits) + 1]] <- list(
      model = "linear", design = design, structure = name, singular = isSingular(fit),
      estimate = table["condition", 1], se = table["condition", 2], df = table["condition", 3],
      p = table["condition", 5], criterion = as.numeric(REMLcrit(fit)),
      variances = variances(fit), correlations = correlations(fit))
    fit <- suppressWarnings(glmer(as.formula(paste("yes ~ condition +", random)), rows, binomial,
      control = glmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9))))
    table <- coef(summary(fit))
    fits[[length(fits) + 1]] <- list(
      model = "logistic", design = design, structure = name, singular = isSingular(fit),
      estimate = table["condition", 1], se = table["condition", 2], p = table["condition", 4],
      criterion = -2 * as.numeric(logLik(fit)),
      variances = variances(fit), correlations = correlations(fit))
    ordinal_random <- random
    fit <- tryCatch(clmm(as.formula(paste("factor(rating) ~ condition +", ordinal_random)), rows),
      error = function(e) NULL)
    if (is.null(fit) || !is.finite(fit$logLik)) next
    table <- coef(summary(fit))
    blocks <- lapply(names(fit$ST), function(g) VarCorr(fit)[[g]])
    fits[[length(fits) + 1]] <- list(
      model = "ordinal", design = design, structure = name,
      singular = min(sapply(fit$ST, function(s) min(diag(as.matrix(s))))) < 1e-3,
      estimate = table["condition", 1], se = table["condition", 2], p = table["condition", 4],
      criterion = -2 * as.numeric(fit$logLik), thresholds = unname(fit$Theta[1, ]),
      variances = data.frame(
        grp = rep(names(fit$ST), sapply(blocks, nrow)), var1 = unlist(lapply(blocks, rownames)),
        vcov = unlist(lapply(blocks, diag))),
      correlations = data.frame(
        grp = names(fit$ST), sdcor = sapply(blocks, function(b) if (nrow(b) > 1) cov2cor(b)[2, 1] else NA)),
      severity = if (name %in% c("intercepts", "correlated")) list(
        mode = ordinal::ranef(fit)$participant[, 1], variance = ordinal::condVar(fit)$participant[, 1]) else NULL)
  }
}
write_json(fits, "mixed_models.json", digits = 10, auto_unbox = TRUE, pretty = FALSE, na = "null")
