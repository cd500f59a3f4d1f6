internal import Application
internal import TextFormats

/// Every command, found by its name in any letter case.
struct LineCommandTable: Sendable {
    static let shared = LineCommandTable(
        ConnectionCommands.all + ServerCommands.all + ClusterCommands.all + PeerCommands.all + TokenCommands.all
            + DelayCommands.all + SubscriptionCommands.all + Command.all.map(LineCommand.init))

    /// The commands, group by group.
    let commands: [LineCommand]
    /// The name of each, in capital letters.
    private let names: [[UInt8]]
    /// A hash table of open addressing: the index of a command by its name's hash, or in the next free slot.
    private let slots: [Int?]
    /// The first words of names of two words, such as `CLIENT`, in capital letters.
    private let containers: [[UInt8]]
    /// Whether the command of an index is a container, too: only `COMMAND` is.
    private let isContainer: [Bool]

    private init(_ commands: [LineCommand]) {
        self.commands = CommandDeclaration.Group.allCases.flatMap { group in
            commands.filter { $0.declaration.group == group }
        }
        names = self.commands.map { Array($0.declaration.name.utf8) }
        slots = LineCommandTable.slots(of: names)
        containers = Set(
            names.lazy.map { $0.split(separator: UInt8(ascii: " ")) }.filter { $0.count > 1 }.map { Array($0[0]) }
        ).map(\.self)
        isContainer = names.map(containers.contains)
    }

    /// The index of the command that the arguments begin with, a subcommand before its container.
    func index(of arguments: Arguments) -> Int? {
        let name = arguments[0]
        if let index = index(ofName: name) {
            return arguments.count > 1 && isContainer[index] ? subcommand(of: names[index], arguments[1]) : index
        }
        guard arguments.count > 1, let container = containers.first(where: name.equals(capitals:)) else { return nil }
        return subcommand(of: container, arguments[1])
    }

    private func subcommand(of container: [UInt8], _ name: Argument) -> Int? {
        (container + [UInt8(ascii: " ")] + name.bytes).withUnsafeBytes { index(ofName: Argument($0)) }
    }

    /// The index of the command with this name, in capital letters.
    func index(ofCommand name: String) -> Int? { Array(name.utf8).withUnsafeBytes { index(ofName: Argument($0)) } }

    private func index(ofName name: Argument) -> Int? {
        var slot = LineCommandTable.firstSlot(of: name, among: slots.count)
        while let index = slots[slot] {
            if name.equals(capitals: names[index]) { return index }
            slot = (slot + 1) % slots.count
        }
        return nil
    }

    private static func slots(of names: [[UInt8]]) -> [Int?] {
        // At least half of them stay free, so most names are where they are looked for first.
        var slots = [Int?](repeating: nil, count: 4 << (Int.bitWidth - names.count.leadingZeroBitCount))
        for (index, name) in names.enumerated() {
            var slot = name.withUnsafeBytes { firstSlot(of: Argument($0), among: slots.count) }
            while slots[slot] != nil { slot = (slot + 1) % slots.count }
            slots[slot] = index
        }
        return slots
    }

    /// - Parameter count: a power of two.
    private static func firstSlot(of name: Argument, among count: Int) -> Int {
        Int(truncatingIfNeeded: name.caseInsensitiveHash) & (count - 1)
    }

    /// The name that a mistyped one most likely stands for: of a command, or of a subcommand where the container is
    /// known.
    func nearest(to words: some Collection<Argument>) -> String? {
        guard let name = words.first?.uppercased(upTo: Spelling.longest) else { return nil }
        let second = words.dropFirst().first?.uppercased(upTo: Spelling.longest)
        let full = second.map { name + [UInt8(ascii: " ")] + $0 }
        if containers.contains(name) {
            let subcommands = names.filter { $0.starts(with: name + [UInt8(ascii: " ")]) }
            return full.flatMap { Spelling.nearest(to: [$0], among: subcommands) }
        }
        return Spelling.nearest(to: [name] + (full.map { [$0] } ?? []), among: names)
    }

    /// The container with this name.
    func container(of name: Argument) -> String? {
        containers.first(where: name.equals(capitals:)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The commands that a name stands for: one, or a container and its subcommands.
    func commands(named words: some Collection<Argument>) -> [LineCommand] {
        let (blank, bar) = (UInt8(ascii: " "), UInt8(ascii: "|"))
        let name = words.map(\.uppercased).joined(separator: [blank]).map { $0 == bar ? blank : $0 }
        return commands.filter {
            let own = $0.declaration.name.utf8
            return own.elementsEqual(name) || own.starts(with: name + [blank])
        }
    }
}

extension Argument {
    /// The bytes as capitals; one more than `limit` of a longer one.
    fileprivate func uppercased(upTo limit: Int) -> [UInt8] {
        Argument(UnsafeRawBufferPointer(rebasing: bytes.prefix(limit + 1))).uppercased
    }
}
