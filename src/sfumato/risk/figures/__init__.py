"""Risk figures: functions of group sizes and coded columns, in NumPy."""
