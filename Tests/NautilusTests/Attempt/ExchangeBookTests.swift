import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The book of a call's exchanges")
struct ExchangeBookTests {
    private let clock = ManualClock()
    private let book: ExchangeBook
    private let origin: HttpOrigin
    private let request: HttpRequest

    init() throws {
        let url = try #require(URL(string: "https://api.example.com/notes"))
        (origin, request) = (try #require(HttpOrigin(url)), HttpRequest(url: url))
        book = ExchangeBook(.none, stopwatch: Stopwatch(clock), observer: nil)
    }

    private func begin(_ progress: ExchangeProgress, attempt: Int = 1) throws -> ExchangeBook.Entry {
        let opening = ExchangeBook.Opening(role: .main, attempt: attempt)
        return try #require(book.begin(request, opening, progress, serviceOrigin: origin))
    }

    @Test("a latency is up to the header, and without the wait for a connection; a duration is all of it")
    func latency() throws {
        _ = book.beginAttempt()
        let progress = ExchangeProgress(Stopwatch(clock))
        let entry = try begin(progress)
        progress.beginWaiting()
        clock.advance(by: .seconds(1))
        progress.endWaiting()
        clock.advance(by: .seconds(2))
        progress.noteHeader()
        clock.advance(by: .seconds(4))
        progress.noteHeader()
        let record = try #require(book.end(entry, .answered(status: 200), .maybeExecuted))
        #expect(record.latency == .seconds(2))
        #expect(record.connectionWait == .seconds(1))
        #expect(record.duration == .seconds(7))
        #expect(book.exchanges() == [record])
    }

    @Test("if a transport does not report the header, the latency is the duration without the connection wait")
    func untold() throws {
        _ = book.beginAttempt()
        let progress = ExchangeProgress(Stopwatch(clock))
        let entry = try begin(progress)
        progress.beginWaiting()
        clock.advance(by: .seconds(1))
        progress.endWaiting()
        clock.advance(by: .seconds(2))
        #expect(book.end(entry, .answered(status: 200), .maybeExecuted)?.latency == .seconds(2))
    }

    @Test("an exchange of an attempt that is over has a record of its own, and no place in the next attempt")
    func late() throws {
        let first = book.beginAttempt()
        let outlived = try begin(ExchangeProgress(Stopwatch(clock)))
        _ = book.beginAttempt()
        let late = try begin(ExchangeProgress(Stopwatch(clock)), attempt: first)
        clock.advance(by: .seconds(3))
        for (entry, number) in [(outlived, 1), (late, 2)] {
            #expect(book.exchanges().isEmpty)
            let record = try #require(book.end(entry, .answered(status: 200), .maybeExecuted))
            #expect(record.number == number)
            #expect(record.attempt == 1)
            #expect(record.duration == .seconds(3))
            // It has ended once.
            #expect(book.end(entry, .answered(status: 200), .maybeExecuted) == nil)
        }
        #expect(book.exchanges().isEmpty)
        #expect(book.lastEnded == nil)
        #expect(book.delivery().delivery == .notSent)
    }
}

extension Result where Success == any Sendable {
    fileprivate var number: Int? { (try? get()) as? Int }
}
