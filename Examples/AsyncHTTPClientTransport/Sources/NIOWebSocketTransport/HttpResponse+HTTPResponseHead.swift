import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Nautilus

extension HttpResponse<Data> {
    /// An answer that opened nothing.
    init(_ head: HTTPResponseHead, body: ByteBuffer, url: URL) {
        self.init(
            status: Int(head.status.code),
            header: HttpHeader(head.headers),
            body: Data(buffer: body, byteTransferStrategy: .copy),
            url: url
        )
    }
}

extension HttpHeader {
    /// The same fields, in their order.
    init(_ headers: HTTPHeaders) {
        self.init(headers.map { Field(name: Name($0.name), value: $0.value) })
    }
}
