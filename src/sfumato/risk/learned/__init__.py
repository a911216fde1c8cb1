"""Machine learning on a release; needs scikit-learn (`sfumato[learn]`)."""
