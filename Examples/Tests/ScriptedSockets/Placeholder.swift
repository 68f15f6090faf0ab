public enum ScriptedSocketsPlaceholder {}
