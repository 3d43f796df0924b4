# Writes r_wilcox.tsv, the answers of R to compare txop.stats with:
#   Rscript tests/data/make_r_wilcox.R > tests/data/r_wilcox.tsv
# The stored file is from R 4.2.2 (2022-10-31) with coin 1.4-2.
#
# kind: one (one sample), two (location of y minus x), spearman (x against its order), holm (x; adjusted values in y).
# exact: R used the exact distribution (no ties, no zeros, fewer than 50).
# conditional_p: the exact conditional p-value of the package coin, which knows ties (zeros left out); NA without coin.
suppressWarnings(suppressMessages(has_coin <- require(coin, quietly = TRUE)))
set.seed(20260101)
num <- function(v) paste(sprintf("%.17g", v), collapse = ",")
cell <- function(v) if (is.null(v) || is.na(v)) "NA" else sprintf("%.17g", v)
cat("kind", "exact", "confidence", "p", "estimate", "low", "high", "conditional_p", "x", "y", sep = "\t")
cat("\n")
row <- function(kind, exact, conf, p, est, lo, hi, cond, x, y) {
  cat(kind, exact, conf, cell(p), cell(est), cell(lo), cell(hi), cell(cond), num(x), if (is.null(y)) "" else num(y), sep = "\t")
  cat("\n")
}
one <- function(x, conf) {
  r <- suppressWarnings(wilcox.test(x, conf.int = TRUE, conf.level = conf))
  exact <- length(x) < 50 && !any(x == 0) && !any(duplicated(abs(x)))
  cond <- if (has_coin) as.numeric(pvalue(wilcoxsign_test(x ~ rep(0, length(x)), zero.method = "Wilcoxon", distribution = "exact"))) else NA
  row("one", exact, conf, r$p.value, r$estimate, r$conf.int[1], r$conf.int[2], cond, x, NULL)
}
two <- function(x, y, conf) {
  r <- suppressWarnings(wilcox.test(y, x, conf.int = TRUE, conf.level = conf))
  exact <- length(x) < 50 && length(y) < 50 && !any(duplicated(c(x, y)))
  all <- data.frame(v = c(x, y), g = factor(rep(1:2, c(length(x), length(y)))))
  cond <- if (has_coin) as.numeric(pvalue(wilcox_test(v ~ g, data = all, distribution = "exact"))) else NA
  row("two", exact, conf, r$p.value, r$estimate, r$conf.int[1], r$conf.int[2], cond, x, y)
}
levels <- c(0.95, 0.9, 0.99)
for (n in 3:49) {
  one(rnorm(n, 0.4), levels[1])
  one(rt(n, 2), levels[1 + n %% 3])
  one(rexp(n) - 0.3, levels[1 + (n + 1) %% 3])
}
for (m in c(2:9, 12, 17, 25, 40, 49)) for (n in c(3:6, 8, 11, 20, 33, 49)) {
  conf <- levels[1 + (m + n) %% 3]
  two(rnorm(m), rnorm(n, 0.7), conf)
  two(rexp(m), rexp(n) * 2, conf)
}
# ties and zeros: figures rounded to few digits, as counters and percentages are
for (n in 6:30) for (digits in 0:1) {
  one(round(rnorm(n, 0.5), digits), 0.95)
  two(round(rnorm(n), digits), round(rnorm(n + 2, 0.5), digits), 0.95)
}
one(c(0, 0, 0, 1, 2, 3, 4, 5, 6), 0.95)
one(c(-1, 1, -2, 2, -3, 3, 4), 0.95)
for (n in 4:30) for (effect in c(0, 0.3)) {
  x <- rnorm(n) + effect * seq_len(n)
  r <- suppressWarnings(cor.test(seq_len(n), x, method = "spearman"))
  row("spearman", n <= 9, 0.95, r$p.value, r$estimate, NA, NA, NA, x, NULL)
}
for (m in 1:12) {
  p <- runif(m)^3
  row("holm", TRUE, 0.95, NA, NA, NA, NA, NA, p, p.adjust(p, "holm"))
}
