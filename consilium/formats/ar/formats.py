"""Arabic: day, month and year, the digits as in the study's numbers."""

DATE_FORMAT = "j F Y"
DATETIME_FORMAT = "j F Y، H:i e"
SHORT_DATE_FORMAT = "j M Y"
SHORT_DATETIME_FORMAT = "j M Y، H:i e"
MONTH_DAY_FORMAT = "j F"
TIME_FORMAT = "H:i"
