library(lme4)  # install.packages("lme4")
library(ordinal)  # install.packages("ordinal")

d <- read.csv("judgments.csv", na.strings = "", encoding = "UTF-8", check.names = FALSE,
              colClasses = c(participant = "character", session = "character", trial = "character", item = "character", condition = "character", sentence_id = "character"))
d <- subset(d, kind %in% c("target", "filler") & is.na(excluded_by))
d$z <- with(d, ave(value, participant,
                 FUN = function(x) (x - mean(x, na.rm = TRUE)) / sd(x, na.rm = TRUE)))
d <- subset(d, kind == "target" & is.na(excluded_by) & !is.na(value))
d[["condition"]] <- factor(d[["condition"]], levels = c("plural", "singular"))
contrasts(d[["condition"]]) <- matrix(c(-0.5, 0.5), 2, dimnames = list(NULL, "singular"))

# means by condition
print(aggregate(z ~ condition, data = d, FUN = mean))

# z has no differences between participants' means, so they have no random intercept
m <- lmer(z ~ condition + (1 | item), data = d)
print(summary(m))

# ratings as ordered categories
o <- clmm(factor(value, ordered = TRUE) ~ condition + (1 | participant) + (1 | item), data = d)
print(summary(o))
# random slopes that the design allows: (1 + condition | participant), likewise for item
