"""Files and frames, in and out."""
