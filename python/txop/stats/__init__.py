"""The statistics of a comparison: one method, stated with every result.

A replicate is one whole run: fresh driver load, association, warm-up, measured window, summarised to one figure.
Seconds and packets inside a run are not replicates. Runs of two arms that share a block are compared in pairs; the
typical difference is the Hodges-Lehmann estimate, its interval and p-value are those of the exact Wilcoxon test, and
the verdict weighs both against a practical margin. ``docs/statistics.md`` explains each figure.

Pure functions on numbers: nothing here reads a file. Results are frozen dataclasses; what a reader must know beside
the number is in their ``warnings``, which are data, not failures. Input that is not a sample (empty, NaN, infinite
where that is meaningless) raises :class:`ValueError`.

=====================  ==========================================================
:mod:`.verdict`        two arms compared, in pairs or not; start here
:mod:`.settings`       how a metric is compared: scale, direction, margin
:mod:`.comparison`     what that found
:mod:`.sentence`       the same in one line of plain English
:mod:`.signed_rank`    exact Wilcoxon signed-rank test and its interval
:mod:`.two_sample`     exact Mann-Whitney test and its interval
:mod:`.holm`           several metrics judged together
:mod:`.power`          smallest detectable effect, blocks needed
:mod:`.drift`          does the difference move with the order of the blocks?
:mod:`.steady`         warm-up, trend and autocorrelation inside one run
:mod:`.spread`         outlier marks, distribution functions, quantile shifts
=====================  ==========================================================
"""
