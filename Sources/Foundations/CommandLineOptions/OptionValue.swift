/// How the text of an option becomes a value.
public struct OptionValue<Value: Sendable>: Sendable {
    private let expected: String
    private let parse: @Sendable (String) -> Value?

    /// - Parameters:
    ///   - expected: what the text must be, to complete the message "'x' is not …": `a whole number`.
    ///   - parse: returns nil for any other text.
    public init(_ expected: String, _ parse: @escaping @Sendable (String) -> Value?) {
        self.expected = expected
        self.parse = parse
    }

    /// The value of a text, or an error that names the option.
    public func value(of text: String, for option: String) throws(UsageError) -> Value {
        guard let value = parse(text) else { throw UsageError("--\(option): '\(text)' is not \(expected)") }
        return value
    }
}

extension OptionValue<String> {
    /// Any text.
    public static var text: Self { OptionValue("a text") { $0 } }
}

extension OptionValue<Int> {
    /// A whole number of the range.
    public static func integer(_ range: ClosedRange<Int>) -> Self {
        OptionValue("a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number of bytes of the range, whose ends are whole mebibytes, as `1073741824`, `1024mb` or `1gb`. The units are
    /// powers of 1,024, as in Redis.
    public static func bytes(_ range: ClosedRange<Int>) -> Self {
        func text(_ bytes: Int) -> String { bytes < 1 << 30 ? "\(bytes >> 20)mb" : "\(bytes >> 30)gb" }
        return OptionValue(
            "a number of bytes from \(text(range.lowerBound)) to \(text(range.upperBound)), such as 512mb"
        ) { text in
            let units = ["": 0, "b": 0, "kb": 10, "mb": 20, "gb": 30]
            let digits = text.prefix { ("0"..."9").contains($0) }
            guard let number = Int(digits), let shift = units[text.dropFirst(digits.count).lowercased()] else {
                return nil
            }
            let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
            return !overflow && range.contains(bytes) ? bytes : nil
        }
    }
}

extension OptionValue where Value: CaseIterable & RawRepresentable<String> {
    /// One of the cases, by its raw value.
    public static var choice: Self {
        OptionValue("one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))") { Value(rawValue: $0) }
    }
}
