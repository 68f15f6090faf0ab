import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Finds the places of a source where an operator can plant a fault.
///
/// | operator | original | changed |
/// |---|---|---|
/// | condition | of `if`, `guard`, `while`, `where`, `? :` | always true, except in `while`; never, except in `guard` |
/// | boundary | `<`, `>` | `<=`, `>=`, and the other way round |
/// | equality | `==`, `===` | `!=`, `!==`, and the other way round |
/// | logic | `&&`, `!x`, `true` | `\|\|`, `x`, `false`, and the other way round |
/// | arithmetic | `+` | `-`, and the other way round |
/// | bounds | `min(…)` | `max(…)`, and the other way round |
/// | default | `a ?? b` | `b` |
/// | statement | a call, an assignment; in `defer`, too | dropped |
///
/// What an early return does, its condition tells. Texts, preconditions and what is in `#if` are left alone.
final class FaultFinder: SyntaxVisitor {
    private(set) var faults: [Fault] = []
    /// All functions, properties and initializers that could be chosen.
    private(set) var names: Set<String> = []
    private let file: String
    private let chosen: Set<String>?
    private let lines: SourceLocationConverter
    /// The declarations around the node, the outermost first, from the first one that is chosen.
    private var functions: [String] = []
    /// Conditions that are made true and false, so that their negation would be no further fault.
    private var wholeConditions: Set<SyntaxIdentifier> = []
    private var occurrences: [String: Int] = [:]
    /// Variables of functions that are declared without a value, and need the one that is assigned.
    private var needy: Set<String> = []

    /// - Parameter chosen: The names of functions; nil for all.
    init(file: String, source: String, chosen: Set<String>?) {
        let parsed = Parser.parse(source: source)
        let tree = OperatorTable.standardOperators.foldAll(parsed) { _ in }
        (self.file, self.chosen) = (file, chosen)
        lines = SourceLocationConverter(fileName: file, tree: tree)
        super.init(viewMode: .sourceAccurate)
        walk(tree)
    }

    private func plant(_ form: Fault.Form, at node: some SyntaxProtocol, _ changed: String, shown: String? = nil) {
        let start = node.positionAfterSkippingLeadingTrivia
        var fault = Fault(
            file: file,
            function: functions[0],
            line: lines.location(for: start).line,
            original: node.onOneLine,
            changed: shown ?? changed.onOneLine,
            form: form,
            changedSource: changed,
            range: start.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
        )
        let key = fault.key
        occurrences[key, default: 0] += 1
        fault.occurrence = occurrences[key, default: 1]
        faults.append(fault)
    }

    // MARK: Functions

    private func enter(_ name: String) -> SyntaxVisitorContinueKind {
        names.insert(name)
        if functions.isEmpty { needy = [] }
        if !functions.isEmpty || chosen?.contains(name) ?? true { functions.append(name) }
        return .visitChildren
    }

    private func leave() { _ = functions.popLast() }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name.text) }
    override func visitPost(_: FunctionDeclSyntax) { leave() }
    override func visit(_: InitializerDeclSyntax) -> SyntaxVisitorContinueKind { enter("init") }
    override func visitPost(_: InitializerDeclSyntax) { leave() }
    override func visit(_: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind { enter("subscript") }
    override func visitPost(_: SubscriptDeclSyntax) { leave() }
    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        if node.accessorBlock != nil { return enter(node.pattern.trimmedDescription) }
        if !functions.isEmpty, node.initializer == nil { needy.insert(node.pattern.trimmedDescription) }
        return .visitChildren
    }
    override func visitPost(_ node: PatternBindingSyntax) { if node.accessorBlock != nil { leave() } }

    // MARK: What is left alone

    override func visit(_: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_: FunctionParameterClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    // MARK: Conditions

    override func visit(_ node: ConditionElementListSyntax) -> SyntaxVisitorContinueKind {
        let isLoop = node.parent?.is(WhileStmtSyntax.self) == true
        for element in node {
            if case .expression(let condition) = element.condition { wholeConditions.insert(condition.id) }
        }
        let isDecided = node.allSatisfy { $0.condition.is(BooleanLiteralExprSyntax.self) || $0.isAvailability }
        if functions.isEmpty || isDecided { return .visitChildren }
        // A guard that is never passed fails nearly every test.
        if node.parent?.is(GuardStmtSyntax.self) != true { plant(.neverMet, at: node, "", shown: "false") }
        // A loop without an end would only cost time.
        for element in node where !isLoop {
            if case .expression(let condition) = element.condition { plant(.choice, at: condition, "true") }
        }
        return .visitChildren
    }

    override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind { decide(node.condition) }
    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind { decide(node.condition) }

    private func decide(_ condition: ExprSyntax) -> SyntaxVisitorContinueKind {
        wholeConditions.insert(condition.id)
        if functions.isEmpty { return .visitChildren }
        plant(.choice, at: condition, "false")
        plant(.choice, at: condition, "true")
        return .visitChildren
    }

    // MARK: Expressions

    private static let swaps = [
        "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===",
        "&&": "||", "||": "&&", "+": "-", "-": "+", "min": "max", "max": "min",
    ]
    private static let negated: Set = ["==", "!=", "===", "!=="]

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard !functions.isEmpty, let sign = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else {
            return .visitChildren
        }
        if sign == "??" { plant(.choice, at: node, node.rightOperand.trimmedDescription) }
        let isNegation = Self.negated.contains(sign) && wholeConditions.contains(node.id)
        if let other = Self.swaps[sign], !isNegation, !(sign == "+" && node.joinsTexts) {
            plant(.choice, at: node, node.with(node.operator, as: other))
        }
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if !functions.isEmpty, node.operator.text == "!", !wholeConditions.contains(node.id) {
            plant(.choice, at: node, node.expression.trimmedDescription)
        }
        return .visitChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        if !functions.isEmpty, !wholeConditions.contains(node.id) {
            plant(.choice, at: node, node.literal.text == "true" ? "false" : "true")
        }
        return .skipChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.calledExpression.trimmedDescription
        if Self.checks.contains(name) { return .skipChildren }
        if !functions.isEmpty, ["min", "max"].contains(name), let other = Self.swaps[name] {
            plant(.choice, at: node, node.with(node.calledExpression, as: other))
        }
        return .visitChildren
    }

    // MARK: Statements

    private static let checks: Set = [
        "precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError",
    ]
    private static let assignments: Set = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", ">>=", "<<="]

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        if !functions.isEmpty, !node.isWhatAnIfDoes, isDroppable(node) {
            plant(.dropped, at: node.item, "", shown: "dropped")
        }
        return .visitChildren
    }

    private func isDroppable(_ item: CodeBlockItemSyntax) -> Bool {
        guard case .expr(var expression) = item.item else { return false }
        if let inner = expression.as(TryExprSyntax.self)?.expression { expression = inner }
        if let inner = expression.as(AwaitExprSyntax.self)?.expression { expression = inner }
        if let call = expression.as(FunctionCallExprSyntax.self) {
            let name = call.calledExpression.trimmedDescription
            return !item.isValue && !Self.checks.contains(name) && !name.hasSuffix(".init")
        }
        guard let infix = expression.as(InfixOperatorExprSyntax.self) else { return false }
        if let sign = infix.operator.as(BinaryOperatorExprSyntax.self) {
            return Self.assignments.contains(sign.operator.text)
        }
        // What an initializer assigns, it needs.
        return infix.operator.is(AssignmentExprSyntax.self) && functions[0] != "init"
            && !needy.contains(infix.leftOperand.trimmedDescription)
    }
}

extension ConditionElementSyntax {
    fileprivate var isAvailability: Bool {
        if case .availability = condition { true } else { false }
    }
}

extension CodeBlockItemSyntax {
    private var isAlone: Bool { parent?.as(CodeBlockItemListSyntax.self)?.count == 1 }

    /// Whether it is all that an `if` without `else` does, which is dropped where the condition is made false.
    fileprivate var isWhatAnIfDoes: Bool {
        isAlone && parent?.parent?.parent?.as(IfExprSyntax.self).map { $0.elseKeyword == nil } ?? false
    }

    /// Whether it may be the value of a closure, a function or a branch.
    fileprivate var isValue: Bool {
        guard isAlone, var around = parent?.parent else { return false }
        if around.is(CodeBlockSyntax.self), let parent = around.parent { around = parent }
        if let function = around.as(FunctionDeclSyntax.self) { return function.signature.returnClause != nil }
        if around.is(SwitchCaseSyntax.self), let expression = around.parent?.parent { around = expression }
        guard around.is(IfExprSyntax.self) || around.is(SwitchExprSyntax.self) else {
            let getter = around.as(AccessorDeclSyntax.self)?.accessorSpecifier.text == "get"
            return getter || around.is(ClosureExprSyntax.self) || around.is(AccessorBlockSyntax.self)
        }
        // The branch of a branch is what the outermost is.
        while let outer = around.parent?.as(IfExprSyntax.self) { around = Syntax(outer) }
        if let statement = around.parent?.as(ExpressionStmtSyntax.self) { around = Syntax(statement) }
        return around.parent?.as(CodeBlockItemSyntax.self)?.isValue ?? true
    }
}

extension InfixOperatorExprSyntax {
    /// Whether it has a text or an array among its operands, which have no difference.
    fileprivate var joinsTexts: Bool {
        [leftOperand, rightOperand].contains {
            $0.is(StringLiteralExprSyntax.self) || $0.is(ArrayExprSyntax.self)
                || $0.as(InfixOperatorExprSyntax.self)?.joinsTexts ?? false
        }
    }
}

extension SyntaxProtocol {
    fileprivate var onOneLine: String { trimmedDescription.onOneLine }

    /// The text, with another text in the place of one of its parts.
    fileprivate func with(_ part: some SyntaxProtocol, as text: String) -> String {
        let start = part.positionAfterSkippingLeadingTrivia.utf8Offset - positionAfterSkippingLeadingTrivia.utf8Offset
        let bytes = Array(trimmedDescription.utf8)
        let rest = bytes[(start + part.trimmedLength.utf8Length)...]
        return String(decoding: bytes[..<start], as: UTF8.self) + text + String(decoding: rest, as: UTF8.self)
    }
}

extension String {
    /// Without line breaks and comments at the end of lines.
    fileprivate var onOneLine: String {
        split(separator: "\n").map { line in
            let code = line.firstRange(of: " //").map { line[..<$0.lowerBound] } ?? line[...]
            return code.split(separator: " ").joined(separator: " ")
        }
        .filter { !$0.isEmpty && !$0.hasPrefix("//") }.joined(separator: " ")
    }
}
