# Reference values of the drift of ratings over the trials: reads surprisal.csv, writes drift.json.
# Run it in this folder: Rscript drift.R
# Written with R 4.2.2, lme4 1.1-31, lmerTest 3.1-3.
suppressMessages({library(lmerTest); library(jsonlite)})
rows <- read.csv("surprisal.csv")
set.seed(20261201)
person <- rnorm(max(rows$participant), 1, 1.2)  # a drift of each participant, which the data lack
rows$order <- (rows$position - 1) / (max(rows$position) - 1) - .5
rows$value <- round(rows$value + 8 * person[rows$participant] * rows$order, 2)
write.csv(rows[c("participant", "position", "sentence", "item", "value")], "drift.csv", row.names = FALSE, quote = FALSE)
rows$z <- ave(rows$value, rows$participant, FUN = function(x) (x - mean(x)) / sd(x))
fit <- lmer(z ~ order + (1 | sentence) + (0 + order | participant), rows,
            control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10)))
stopifnot(!isSingular(fit))
table <- coef(summary(fit))["order", ]
own <- lm(z ~ order, rows[rows$participant == 1, ])
write_json(list(estimate = table[[1]], se = table[[2]], df = table[[3]], p = table[[5]],
                sd_participants = attr(VarCorr(fit)$participant, "stddev")[[1]],
                slope = coef(own)[[2]], ends = confint(own)["order", ], p_slope = summary(own)$coefficients[2, 4]),
           "drift.json", digits = NA, auto_unbox = TRUE)
