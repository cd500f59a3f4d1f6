internal import Foundation

/// Something that was counted or measured. `INFO`, JSON and Prometheus each show it in their own way.
public struct Fact: Sendable {
    /// What it is.
    public enum Value: Sendable {
        /// A whole number.
        case whole(Int64)
        /// A number, shown with so many digits behind the point.
        case decimal(Double, digits: Int)
        /// A word, or some.
        case text(String)
        /// Several facts under one name.
        case parts([Fact])
    }

    /// What it is called where facts stand together.
    public let name: String
    /// What it is.
    public let value: Value
    /// What it is to a monitoring system; nil where it is none of its business.
    public let metric: Metric?

    /// A fact.
    public init(_ name: String, _ value: Value, _ metric: Metric? = nil) {
        self.name = name
        self.value = value
        self.metric = metric
    }

    /// A whole number; one that is larger than that of 64 bits counts as the largest.
    public init(_ name: String, _ number: some BinaryInteger, _ metric: Metric? = nil) {
        self.init(name, .whole(Int64(clamping: number)), metric)
    }

    /// A text.
    public init(_ name: String, _ text: String) { self.init(name, .text(text)) }

    /// Several facts under one name.
    public init(_ name: String, _ parts: [Fact]) { self.init(name, .parts(parts)) }

    /// The facts in it that have a metric, each with its number.
    public var measured: [(metric: Metric, number: String)] {
        switch value {
        case .parts(let parts): parts.flatMap(\.measured)
        case .text: []
        case .whole(let number):
            metric.map { [($0, $0.scale == 1 ? "\(number)" : "\(Double(number) * $0.scale)")] } ?? []
        case .decimal(let number, _): metric.map { [($0, "\(number * $0.scale)")] } ?? []
        }
    }
}

extension Fact.Value: CustomStringConvertible {
    /// The value as one word, `calls=3,usec=120` where it has parts.
    public var description: String {
        switch self {
        case .whole(let number): "\(number)"
        case .decimal(let number, let digits): String(format: "%.\(digits)f", number)
        case .text(let text): text
        case .parts(let parts): parts.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        }
    }
}

/// What a monitoring system knows of a fact, in Prometheus's terms.
public struct Metric: Sendable {
    /// How its number behaves.
    public enum Kind: String, Sendable {
        /// It only rises, until the process begins anew.
        case counter
        /// It rises and falls.
        case gauge
    }

    /// A name and a value that tell the metric's numbers apart.
    public typealias Label = (name: String, value: String)

    /// How its number behaves.
    public let kind: Kind
    /// Its name, with the unit at its end.
    public let name: String
    /// What it says, in a sentence.
    public let help: String
    /// Which of the metric's numbers it is.
    public let labels: [Label]
    /// What the fact's number is multiplied with.
    public let scale: Double

    private init(_ kind: Kind, _ name: String, _ help: String, _ labels: [Label], _ scale: Double) {
        self.kind = kind
        self.name = name
        self.help = help
        self.labels = labels
        self.scale = scale
    }

    /// A number that only rises.
    public static func counter(
        _ name: String, _ help: String, _ labels: Label..., scale: Double = 1
    ) -> Metric { Metric(.counter, name, help, labels, scale) }

    /// A number that rises and falls.
    public static func gauge(_ name: String, _ help: String, _ labels: Label...) -> Metric {
        Metric(.gauge, name, help, labels, 1)
    }
}

/// Facts under a title. They are found when they are asked for: percentiles take a while.
public struct Facts {
    /// What they are about.
    public let title: String
    private let find: () -> [Fact]

    /// Facts under a title.
    public init(_ title: String, _ facts: @escaping @autoclosure () -> [Fact]) {
        self.title = title
        find = facts
    }

    /// The facts as they are now, in the order in which they are shown.
    public var facts: [Fact] { find() }
}
