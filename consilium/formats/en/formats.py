"""English, in the order that all its readers read alike: 1 May 2026."""

DATE_FORMAT = "j F Y"
DATETIME_FORMAT = "j F Y, H:i e"
SHORT_DATE_FORMAT = "j M Y"
SHORT_DATETIME_FORMAT = "j M Y, H:i e"
MONTH_DAY_FORMAT = "j F"
TIME_FORMAT = "H:i"
