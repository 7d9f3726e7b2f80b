# Reference values of choices: glmer where variances are 0 or finite, and clubSandwich's CR2; writes choices.json.
# Run it in this folder: Rscript choices.R
# choices.csv: three paradigms of BLiMP's validation (Warstadt et al. 2020, CC-BY 4.0), people and items numbered.
# Written with R 4.2.2, lme4 1.1-31, clubSandwich 0.5.8.
suppressMessages({library(lme4); library(clubSandwich); library(jsonlite)})

choices <- read.csv("choices.csv")
out <- list()
for (name in unique(choices$paradigm)) {
  rows <- choices[choices$paradigm == name, ]
  fit <- suppressMessages(glmer(value ~ 1 + (1 | participant) + (1 | item), rows, binomial))
  out[[length(out) + 1]] <- list(
    model = "glmer", paradigm = name, estimate = coef(summary(fit))[1, 1], se = coef(summary(fit))[1, 2],
    deviance = -2 * as.numeric(logLik(fit)), variances = unname(as.data.frame(VarCorr(fit))$vcov))
}
data <- read.csv("mixed_models.csv")
for (name in unique(data$design)) {
  rows <- data[data$design == name, ]
  rows$pair <- paste(rows$participant, rows$item)
  fit <- glm(yes ~ condition, binomial, rows, control = glm.control(epsilon = 1e-14, maxit = 100))
  for (cluster in c("participant", "item", "pair")) {
    test <- coef_test(fit, vcov = "CR2", cluster = rows[[cluster]], test = "Satterthwaite")
    out[[length(out) + 1]] <- list(
      model = "CR2", design = name, cluster = cluster, estimate = test$beta, se = test$SE,
      df = if ("df_Satt" %in% names(test)) test$df_Satt else test$df)
  }
}
write_json(out, "choices.json", digits = 10, auto_unbox = TRUE)
