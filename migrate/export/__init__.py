"""Jobs in the languages of other tools. Each exporter is a pure function to text."""
