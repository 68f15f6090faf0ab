/// The tests of `NautilusTesting`; a name of their own, so that `--filter TestKit` runs them all.
enum TestKit {}
