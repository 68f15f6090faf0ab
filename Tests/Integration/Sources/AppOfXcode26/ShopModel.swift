import Nautilus
import Observation

/// The model of a view, on the main actor without saying so.
@Observable final class ShopModel {
    private(set) var products: [Product] = []
    private(set) var message: String?
    private let service: ShopService

    init(service: ShopService) {
        self.service = service
    }

    func load(_ id: Int) async {
        do throws(ShopError) {
            products.append(try await GetProduct(id: id).schedule(with: service))
        } catch {
            switch error {
            case .soldOut: message = "Sold out."
            case .other(let error): message = "\(error.kind)"
            }
        }
    }

    func add(_ name: String) async throws {
        products.append(try await AddProduct(draft: .init(name: name)).schedule(with: service))
    }
}
