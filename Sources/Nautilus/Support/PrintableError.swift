/// An error of this package that is fit to be printed: what it says of itself holds no secret.
package protocol PrintableError: Error, CustomStringConvertible {}
