import Nautilus
import Testing

@Suite("An answer that several calls were given")
struct SharedAnswerTests {
    @Test("the first value is everybody's, also where another one was being made at that time")
    func first() {
        let answer = SharedAnswer()
        let slow = answer.agree {
            // Somebody else agrees in between.
            #expect(answer.agree { 1 } == 1)
            return 2
        }
        #expect(slow == 1)
        #expect(answer.agree { 3 } == 1)
    }

    @Test("once there is a value, nobody makes another: a value may cost a budget something")
    func once() {
        let (answer, made) = (SharedAnswer(), Counter())
        for _ in 1...3 { #expect(answer.agree { made.increment() } == 1) }
        #expect(made.value == 1)
    }

    @Test("values of different types do not get into each other's way")
    func types() {
        let answer = SharedAnswer()
        #expect(answer.agree { 1 } == 1)
        #expect(answer.agree { "one" } == "one")
    }
}
