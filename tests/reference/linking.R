# Reference values of linking functions: writes linking.csv (the data) and linking.json (the fits).
# Run it in this folder: Rscript linking.R
# Written with R 4.2.2; base R and jsonlite only.
suppressMessages(library(jsonlite))

set.seed(20261129)
n_items <- 40
data <- data.frame(item = rep(1:n_items, each = 2), phenomenon = rep(rep(1:8, each = 5), each = 2),
                   sentence = 1:(2 * n_items), good = rep(c(1, 0), n_items))
data$tokens <- rep(sample(5:14, n_items, TRUE), each = 2) + rbinom(nrow(data), 2, .4)
data$unigram <- round(-7.5 * data$tokens + rnorm(nrow(data), 0, 4), 4)
data$logprob <- round(.6 * data$unigram + 2 * data$good + 4 - .5 * data$tokens + rnorm(nrow(data), 0, 3), 4)
data$human <- round(1.2 * (data$logprob - .6 * data$unigram - 3) / data$tokens + .5 + .5 * data$good +
                    rnorm(nrow(data), 0, .4), 4)
write.csv(data, "linking.csv", row.names = FALSE, quote = FALSE)

formulas <- list(
  morcela = human ~ I(logprob / tokens) + I(unigram / tokens) + I(1 / tokens),
  morcela_length = human ~ I((logprob - unigram) / tokens) + I(1 / tokens),
  morcela_unigram = human ~ I(logprob / tokens) + I(unigram / tokens))
fold <- (data$item - 1) %% 10
fits <- lapply(names(formulas), function(name) {
  f <- formulas[[name]]
  fit <- lm(f, data)
  held <- numeric(nrow(data))
  for (part in 0:9) held[fold == part] <- predict(lm(f, data[fold != part, ]), data[fold == part, ])
  left <- sapply(unique(data$phenomenon), function(out) coef(lm(f, data[data$phenomenon != out, ])))
  g <- ncol(left)
  covariance <- (g - 1) / g * tcrossprod(left - rowMeans(left))
  list(name = name, weights = unname(coef(fit)), r = sqrt(summary(fit)$r.squared), held_out_r = cor(held, data$human),
       covariance = unname(covariance))
})
write_json(list(fits = fits, slor = cor((data$logprob - data$unigram) / data$tokens, data$human)),
           "linking.json", digits = NA, auto_unbox = TRUE)
