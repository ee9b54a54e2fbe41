"""Results as text for people and as JSON for programs. Pure: values in, lines out."""
