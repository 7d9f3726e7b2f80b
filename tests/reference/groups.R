# Reference values of groups: mantelhaen.test of choices, coin's linear-by-linear test over blocks of ratings, lmer's
# interaction of condition and group; writes groups.csv and groups.json. Run it in this folder: Rscript groups.R
# Written with R 4.2.2, coin 1.4-2, lme4 1.1-31, lmerTest 3.1-3.
suppressMessages({library(coin); library(lme4); library(lmerTest); library(jsonlite)})

set.seed(45)
people <- 24; items <- 8
rows <- expand.grid(participant = 1:people, item = 1:items, condition = c("acceptable", "unacceptable"))
rows$dialect <- ifelse(rows$participant %% 3 == 0, "south", "north")
person <- rnorm(people, 0, .8); slope <- rnorm(people, 0, .4); thing <- rnorm(items, 0, .5); change <- rnorm(items, 0, .3)
code <- ifelse(rows$condition == "acceptable", .5, -.5); group <- ifelse(rows$dialect == "south", .5, -.5)
mean <- 4 + person[rows$participant] + thing[rows$item] + (1.6 + slope[rows$participant] + change[rows$item] - .8 * group) * code
rows$rating <- pmin(7, pmax(1, round(mean + rnorm(nrow(rows), 0, 1))))
rows$yes <- as.integer(mean + rlogis(nrow(rows)) > 4)
write.csv(rows, "groups.csv", row.names = FALSE)

out <- list(items = list(), interaction = NULL)
for (name in 1:items) {
  part <- rows[rows$item == name & rows$condition == "unacceptable", ]
  part$stratum <- factor(part$participant %% 2)
  table <- xtabs(~ factor(dialect, c("north", "south")) + factor(yes, c(1, 0)) + stratum, part)
  yes <- if (sum(part$yes) %in% c(0, nrow(part))) NULL else mantelhaen.test(table)
  rating <- independence_test(rating ~ factor(dialect) | stratum, part, teststat = "quadratic")
  out$items[[name]] <- list(
    item = name, statistic = unname(yes$statistic), p = yes$p.value, odds_ratio = unname(yes$estimate), ci = yes$conf.int,
    mantel = as.numeric(statistic(rating)), mantel_p = as.numeric(pvalue(rating)))
}
rows$c <- code; rows$g <- group; rows$d <- code * group
fit <- lmer(rating ~ c + g + d + (1 | participant) + (0 + c | participant) +
  (1 | item) + (0 + c | item) + (0 + g | item) + (0 + d | item), rows)
values <- coef(summary(fit))["d", ]
out$interaction <- list(
  estimate = values[[1]], se = values[[2]], df = values[[3]], p = values[[5]], singular = isSingular(fit))
write(toJSON(out, digits = 12, auto_unbox = TRUE), "groups.json")
