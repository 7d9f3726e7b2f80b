library(lme4)  # install.packages("lme4")

d <- read.csv("judgments.csv", na.strings = "", encoding = "UTF-8", check.names = FALSE,
              colClasses = c(participant = "character", session = "character", trial = "character", item = "character", condition = "character", sentence_id = "character"))
d <- subset(d, kind == "target" & is.na(excluded_by) & !is.na(value))

# overall mean
print(mean(d$value, na.rm = TRUE))

# 1: the expected member was chosen
m <- glmer(value ~ 1 + (1 | participant) + (1 | item), data = subset(d, value %in% 0:1), family = binomial)
print(summary(m))
