"""Spanish: 1 de mayo de 2026."""

DATE_FORMAT = r"j \d\e F \d\e Y"
DATETIME_FORMAT = r"j \d\e F \d\e Y, H:i e"
SHORT_DATE_FORMAT = "j M Y"
SHORT_DATETIME_FORMAT = "j M Y, H:i e"
MONTH_DAY_FORMAT = r"j \d\e F"
TIME_FORMAT = "H:i"
