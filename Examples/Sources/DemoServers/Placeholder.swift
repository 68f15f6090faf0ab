/// Placeholder.
public enum DemoServersPlaceholder {}
