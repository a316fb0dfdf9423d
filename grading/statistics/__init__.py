"""Agreement between those who judge: pure functions over counts, without Django and without a database.

    undefined.py  a number of a report, or the reason why there is none
    tables.py     from verdicts to counts: pairs of a grader and a clinician, units of many raters
    nominal.py    agreement over categories without an order

Whoever calls decides which verdicts are compared. An unscored pair and a clinician's "can't tell" are no
category: they stand as None, are left out of every coefficient and are counted in its coverage.
"""
