# Reference values of ratings modelled by surprisal: writes surprisal.csv (the data) and surprisal.json (the fit).
# Run it in this folder: Rscript surprisal.R
# Written with R 4.2.2, lme4 1.1-31, lmerTest 3.1-3.
suppressMessages({library(lmerTest); library(jsonlite)})

set.seed(20261130)
people <- 30; items <- 24
sentences <- expand.grid(condition = c("a", "b"), item = 1:items)
sentences$sentence <- paste0(sentences$item, sentences$condition)
sentences$tokens <- rep(sample(5:13, items, TRUE), each = 2) + (sentences$condition == "b")
sentences$unigram <- round(-7 * sentences$tokens + rnorm(nrow(sentences), 0, 5), 3)
sentences$logprob <- round(.5 * sentences$unigram - 6 * (sentences$condition == "b") + rnorm(nrow(sentences), 0, 6), 3)
rows <- do.call(rbind, lapply(1:people, function(p) {
  own <- sentences[(sentences$condition == "a") == ((sentences$item + p) %% 2 == 0), ]
  own <- own[sample(nrow(own)), ]
  cbind(participant = p, position = seq_len(nrow(own)), own)
}))
surprisal <- -rows$logprob / rows$tokens
slope_p <- rnorm(people, 0, .35); slope_i <- rnorm(items, 0, .4)
person <- rnorm(people, 0, .3) + .3 * slope_p; thing <- rnorm(items, 0, .7) - .4 * slope_i
rows$value <- round(pmin(pmax(50 + 10 * (person[rows$participant] + thing[rows$item] -
  (1 + slope_p[rows$participant] + slope_i[rows$item]) * (surprisal - mean(surprisal)) +
  .01 * rows$position - .05 * (rows$tokens - 9) + rnorm(nrow(rows), 0, .7)), 0), 100))
write.csv(rows[c("participant", "position", "sentence", "item", "condition", "tokens", "unigram", "logprob", "value")],
          "surprisal.csv", row.names = FALSE, quote = FALSE)

rows$z <- ave(rows$value, rows$participant, FUN = function(x) (x - mean(x)) / sd(x))
unit <- function(x) (x - mean(x)) / sd(x)
rows$surprisal <- unit(surprisal); rows$length <- unit(rows$tokens)
rows$frequency <- unit(rows$unigram / rows$tokens); rows$place <- unit(rows$position)
# z has the mean 0 for each participant, so that there is no intercept by participant; the largest structure
# without a variance of 0 has no correlations then.
fit <- lmer(z ~ surprisal + length + frequency + place + (1 | item) + (0 + surprisal | item) +
              (0 + surprisal | participant), rows,
            control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10)))
stopifnot(!isSingular(fit))
table <- coef(summary(fit))
write_json(list(terms = rownames(table), estimate = table[, 1], se = table[, 2], df = table[, 3], p = table[, 5],
                vif = 1 / (1 - summary(lm(surprisal ~ length + frequency + place, rows))$r.squared)),
           "surprisal.json", digits = NA, auto_unbox = TRUE)
