# Reference values of main effects and interactions: writes factorial.csv (the data) and factorial.json (type III
# tests, and simple effects from refits with the other factors' levels as the reference). Run it in this folder.
# Written with R 4.2.2, lme4 1.1-31, lmerTest 3.1-3.
suppressMessages({library(lmerTest); library(jsonlite)})
set.seed(20261129)
d <- expand.grid(item = 1:12, participant = 1:16)
d$voice <- c("active", "passive")[(d$participant + d$item) %% 2 + 1]
d$animacy <- c("human", "animal", "thing")[(d$participant + d$item %/% 2) %% 3 + 1]
d$group <- c("north", "south")[d$participant %% 2 + 1]
person <- rnorm(16, 0, .5); thing <- rnorm(12, 0, .4)
d$score <- round(person[d$participant] + thing[d$item] - .5 * (d$voice == "passive") - .3 * (d$animacy == "thing") -
  .6 * (d$voice == "passive" & d$group == "south") + rnorm(nrow(d), 0, .7), 3)
d <- d[runif(nrow(d)) < .9, ]
write.csv(d, "factorial.csv", row.names = FALSE, quote = FALSE)
for (name in c("voice", "animacy", "group")) {
  d[[name]] <- factor(d[[name]]); contrasts(d[[name]]) <- contr.sum(nlevels(d[[name]]))
}
fit <- lmer(score ~ voice * animacy * group + (1 | participant) + (1 | item), d)
table <- anova(fit, type = 3)
omnibus <- data.frame(effect = gsub(":", " × ", rownames(table)), F = table$`F value`, df1 = table$NumDF,
  df2 = table$DenDF, p = table$`Pr(>F)`)
# Passive less active in the north, mean over animacy: group's reference level is the north.
contrasts(d$group) <- contr.treatment(2); contrasts(d$voice) <- contr.treatment(2)
row <- coef(summary(lmer(score ~ voice * animacy * group + (1 | participant) + (1 | item), d)))["voice2", ]
write_json(list(omnibus = omnibus, voice_in_north_se_df = unname(row[c(1, 2, 3)])), "factorial.json", digits = 8,
  auto_unbox = TRUE, pretty = TRUE)
