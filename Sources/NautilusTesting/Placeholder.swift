/// Placeholder.
public enum NautilusTestingPlaceholder {}
