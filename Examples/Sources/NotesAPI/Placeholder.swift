/// Placeholder.
public enum NotesAPIPlaceholder {}
