"""Time, peak memory and utility of Sfumato and of other packages, side by side."""
