import Foundation

/// The line between the parts of a form, which is in none of them (RFC 2046 §5.1.1).
struct MultipartBoundary: Hashable {
    let text: String

    /// Draws boundaries until one is in no part that is in memory. With 24 characters out of 62, one in a file would be
    /// more of a coincidence than two equal keys.
    ///
    /// - Returns: Nil when none was found, as from a source that always draws the same.
    init?(for form: MultipartForm, from random: any RandomSource) {
        let contents = form.parts.compactMap { part in
            if case .data(let data) = part.content { data } else { nil }
        }
        for _ in 0..<8 {
            let boundary = Self.prefix + String((0..<24).map { _ in Self.character(random) })
            if !contents.contains(where: { $0.range(of: Data(boundary.utf8)) != nil }) {
                text = boundary
                return
            }
        }
        return nil
    }

    private static let prefix = "nautilus-"
    private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

    private static func character(_ random: any RandomSource) -> Character {
        let index = Int(random.clampedFraction() * Double(characters.count))
        return characters[min(index, characters.count - 1)]
    }
}
