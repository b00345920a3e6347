"""Acting: from labels to motion that a face graph makes, never twice the same [Serra 2018, section 5]."""
