# SPDX-License-Identifier: Apache-2.0
# What data.table does in parallel: reading, writing, sorting, grouping, sub-setting and joining.
suppressMessages(library(data.table))
setDTthreads(4)
stopifnot(getDTthreads() > 1) # at most the CPUs
set.seed(17)
rows <- 3e5
table <- data.table(group = sample(1e4, rows, TRUE), code = sample(1e5, rows, TRUE), value = round(runif(rows), 6))
fwrite(table, "table.csv")
again <- fread("table.csv")
stopifnot(isTRUE(all.equal(table, again)))
setorder(again, code, -value)
cat("order", sprintf("%.10g", sum(again$value * seq_len(rows))), "\n")
grouped <- again[, .(total = sum(value), mean = mean(value), largest = max(value), n = .N), by = group][order(group)]
cat("groups", nrow(grouped), sprintf("%.12g", grouped[, sum(total * group)]), sprintf("%.12g", grouped[, sum(mean)]),
    grouped[, sum(largest)], "\n")
other <- data.table(code = seq_len(1e5), weight = seq_len(1e5) %% 7)
joined <- again[other, on = "code", nomatch = NULL]
cat("join", nrow(joined), joined[, sum(weight)], "\n")
cat("subset", again[value > 0.5 & code %% 2 == 0, .N], "\n")
cat("mean", sprintf("%.12g", frollmean(again$value, 1000, align = "left")[17]), "\n")
