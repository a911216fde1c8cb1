"""What machine learning makes of a release; needs scikit-learn (`sfumato[learn]`)."""
