import Nautilus

/// The text of a result, or its failure in a few words.
package func text(_ result: CallResult) -> String {
    switch result {
    case .success(let text): text
    case .failure(let error): "\(error.kind)" + (error.underlying.map { " \($0)" } ?? "")
    }
}
