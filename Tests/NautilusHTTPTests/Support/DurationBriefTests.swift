import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Duration.brief")
struct DurationBriefTests {
    @Test(
        "a duration is written for people",
        arguments: [
            (.zero, "0 ms"),
            (.nanoseconds(999), "0 ms"),
            (.microseconds(1), "1 µs"),
            (.microseconds(999), "999 µs"),
            (.milliseconds(1), "1 ms"),
            (.microseconds(1_999), "1 ms"),
            (.milliseconds(850), "850 ms"),
            (.milliseconds(999), "999 ms"),
            (.seconds(1), "1 s"),
            (.milliseconds(1_001), "1.001 s"),
            (.milliseconds(1_010), "1.010 s"),
            (.milliseconds(1_250), "1.250 s"),
            (.nanoseconds(1_999_999_999), "1.999 s"),
            (.seconds(90), "90 s"),
            (.seconds(3600), "3600 s"),
            (.seconds(Int64.max), "9223372036854775807 s"),
            (.microseconds(-5), "-5 µs"),
            (.milliseconds(-5), "-5 ms"),
            (.milliseconds(-1_250), "-1.250 s"),
            (.seconds(-2), "-2 s"),
        ] as [(Duration, String)]
    )
    func text(duration: Duration, expected: String) {
        #expect(duration.brief == expected)
    }
}
