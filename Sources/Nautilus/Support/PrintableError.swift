/// An error of this package that is fit to be printed: its description holds no secret.
package protocol PrintableError: Error, CustomStringConvertible {}
