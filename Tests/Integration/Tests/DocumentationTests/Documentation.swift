/// The tests of the documents and of the layout; a name of their own, so that `--filter Documentation` runs them all.
enum Documentation {}
