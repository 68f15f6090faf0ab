import Testing

@testable import Nautilus

@Suite("The places of a sequence's leases")
struct LeasePlaceTests {
    private final class Session: SequenceSession {
        var isOfUser: Bool? { true }
        var end: (any Error)? { nil }
        func look() {}
        func waitForEnd() async {}
    }

    private static func session(_ beginning: Session = Session()) -> (session: Session, isFirst: Bool)? {
        CallSequence.nextPlace()?.session(orBeginning: beginning)
    }

    @Test("are counted for each retrier, also for one that is made while another is")
    func counted() throws {
        let sequence = CallSequence()
        let (outer, inner) = sequence.making {
            let first = Self.session()
            // Another call of the sequence begins at the same time.
            let inner = sequence.making { [Self.session(), Self.session(), Self.session()] }
            return ([first, Self.session(), Self.session()], inner)
        }
        #expect(outer.map { $0?.isFirst } == [true, false, false])
        #expect(inner.map { $0?.isFirst } == [false, true, true])
        #expect(zip(outer, inner).allSatisfy { $0?.session === $1?.session })
        #expect(Set(outer.compactMap { $0.map { ObjectIdentifier($0.session) } }).count == 3)

        let later = sequence.making { [Self.session(), Self.session()] }
        #expect(zip(outer, later).allSatisfy { $0?.session === $1?.session })
        #expect(sequence.making { (Self.session(), Self.session(), Self.session(), Self.session()) }.3 == nil)
    }
}
