#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The homes of one outlet by revision, from every reader. A revision is one document, whether it was read whole or
/// made by patches. It shows the outlet as it was at some moment between the call and its reply.
///
/// The same bytes and the same patch are read and judged only once.
final class HomeLedger {
    /// How many revisions are kept; a patch from an older one is not applied.
    private static let keptRevisions = 48
    private static let keptPatches = 96

    private struct Known {
        var document: JSON
        /// The bytes, if it was read whole; nil if it was only made by patches.
        var bytes: [UInt8]?
        /// How many changes were settled when it was last found right.
        var verifiedFloor = -1
    }

    private struct PatchKey: Hashable {
        var from: Int64
        var to: Int64
    }

    private let outlet: Outlet
    private var known: [Int64: Known] = [:]
    private var patches: [PatchKey: [UInt8]] = [:]
    private var latest: Int64?
    /// The first home that was read whole.
    private(set) var firstRead: [UInt8]?
    /// The hash of each home that was read whole, by its revision.
    private(set) var hashes: [Int64: Int] = [:]

    init(_ outlet: Outlet) {
        self.outlet = outlet
    }

    /// Whether a patch from that revision can be applied.
    func knows(_ revision: Int64) -> Bool { known[revision] != nil }

    /// The document of a revision, if it is still kept.
    func document(_ revision: Int64) -> JSON? { known[revision]?.document }

    /// A whole document was read. Returns its revision.
    func read(_ bytes: [UInt8], since floor: Int) throws(Violation) -> Int64 {
        if let latest, let same = known[latest]?.bytes, isEqual(same, bytes) {
            try verify(latest, since: floor)
            return latest
        }
        guard let document = JSON(bytes), let revision = document["revision"]?.integer else {
            throw Violation(.home, "the reply is not a home: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
        }
        if let old = known[revision] {
            if let difference = JSON.difference(old.document, document) {
                let how = old.bytes == nil ? "made by patches and read whole" : "read twice"
                // A home that was read whole is believed, so that a wrong patch is reported once.
                if old.bytes == nil { known[revision] = Known(document: document, bytes: bytes) }
                throw Violation(
                    .patch, "the home of \(outlet.id) at revision \(revision), \(how), differs: \(difference)")
            }
            known[revision]?.bytes = bytes
        } else {
            keep(document, revision, bytes)
        }
        if firstRead == nil { firstRead = bytes }
        if hashes[revision] == nil { hashes[revision] = document.hashValue }
        latest = max(latest ?? 0, revision)
        try verify(revision, since: floor)
        return revision
    }

    /// Nothing has changed since that revision.
    func unchanged(_ revision: Int64, since floor: Int) throws(Violation) {
        try verify(revision, since: floor)
    }

    /// A patch was sent. Returns whether it could be judged: not if its beginning is no longer kept.
    @discardableResult
    func patch(
        from: Int64, to: Int64, _ bytes: [UInt8], _ operations: [JSON], since floor: Int?
    ) throws(Violation) -> Bool {
        let key = PatchKey(from: from, to: to)
        if patches[key].map({ isEqual($0, bytes) }) != true {
            guard let old = known[from]?.document else { return false }
            let new: JSON
            do throws(PatchFailure) {
                new = try old.patched(by: operations)
            } catch {
                throw Violation(.patch, "the patch of \(outlet.id) from \(from) to \(to) cannot be applied: \(error)")
            }
            guard new["revision"]?.integer == to else {
                throw Violation(.patch, "the patch of \(outlet.id) from \(from) to \(to) leads to another revision")
            }
            if let other = known[to] {
                if let difference = JSON.difference(new, other.document) {
                    // If both were made by patches, it is unknown which one is wrong.
                    if other.bytes == nil { known[to] = nil }
                    throw Violation(
                        .patch,
                        "the home of \(outlet.id) at revision \(to), made by a patch from \(from) and otherwise, "
                            + "differs: \(difference)")
                }
            } else {
                keep(new, to, nil)
            }
            if patches.count >= HomeLedger.keptPatches { patches.removeAll() }
            patches[key] = bytes
        }
        if let floor { try verify(to, since: floor) }
        return true
    }

    private func keep(_ document: JSON, _ revision: Int64, _ bytes: [UInt8]?) {
        if known.count >= HomeLedger.keptRevisions, let oldest = known.keys.min() { known[oldest] = nil }
        known[revision] = Known(document: document, bytes: bytes)
    }

    private func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && memcmp(one, other, one.count) == 0
    }

    // MARK: Against the model

    private func verify(_ revision: Int64, since floor: Int) throws(Violation) {
        guard let entry = known[revision], entry.verifiedFloor < floor else { return }
        do throws(Violation) {
            try HomeLedger.verify(entry.document, outlet, since: floor)
        } catch {
            // A document made by a wrong patch is not compared with the documents of others.
            if entry.bytes == nil { known[revision] = nil }
            throw Violation(error.check, "the home of \(outlet.id) at revision \(revision): \(error.message)")
        }
        known[revision]?.verifiedFloor = floor
    }

    /// Checks that the document shows what the outlet may have said.
    private static func verify(_ document: JSON, _ outlet: Outlet, since floor: Int) throws(Violation) {
        func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(Violation) {
            guard condition else { throw Violation(.home, message()) }
        }
        try require(document["outlet"]?["id"]?.text == Text(outlet.id), "it is the home of another outlet")
        try require(document["state"]?.text == "ready", "its state is not ready")
        let status = document["outlet"]?["status"]?.string
        let statuses = outlet.possible(.doors, since: floor).map { $0.isAvailable ? "open" : "closed" }
        try require(statuses.contains(status ?? ""), "the outlet is \(status ?? "nothing") and not \(statuses)")
        let isHidden = document["outlet"]?["hidden"]?.bool ?? false
        try require(
            outlet.possible(.listing, since: floor).contains { $0.isListed != isHidden },
            "the outlet is \(isHidden ? "hidden" : "not hidden")")
        let sections = document["sections"]?.array ?? []
        let chips = document["tagBar"]?["chips"]?.array ?? []
        try require(
            chips.map { $0["id"]?.text } == sections.map { Text("tag_\($0["id"]?.string ?? "")") },
            "its tag bar is not that of its sections")
        try require(
            sections.map { $0["id"]?.text } == outlet.menu.sections.map { Text($0.id) },
            "its sections are not the menu's")
        var extras: Set<Int> = []
        for (section, plan) in zip(sections, outlet.menu.sections) {
            var expected = plan.items.makeIterator()
            for shown in section["items"]?.array ?? [] {
                guard let id = shown["id"]?.string, let index = ItemPlan.index(of: id) else {
                    throw Violation(.home, "it has an item without an id of ours")
                }
                let item = outlet.menu.item(index)
                if item.isExtra {
                    extras.insert(index)
                } else if expected.next() != index {
                    throw Violation(.home, "\(id) is not where the menu has it")
                }
                try verify(shown, item, outlet.possible(.item(index), since: floor))
            }
            if let missing = expected.next() { throw Violation(.home, "\(ItemPlan.id(missing)) is missing") }
        }
        for index in outlet.menu.everyItem.suffix(MenuPlan.extras) where !extras.contains(index) {
            try require(
                outlet.possible(.item(index), since: floor).contains { !$0.isListed },
                "\(ItemPlan.id(index)) is missing")
        }
    }

    private static func verify(_ shown: JSON, _ item: ItemPlan, _ offers: [Offer]) throws(Violation) {
        let model = shown["model"]
        guard shown["kind"]?.text == Text(item.kind), model?["name"]?.text == Text(item.name) else {
            throw Violation(.home, "\(item.id) is not the item that was put there")
        }
        let price = model?["price"]?.integer
        let isAvailable = model?["available"]?.bool
        guard offers.contains(where: { $0.isListed && $0.price == price && $0.isAvailable == isAvailable }) else {
            throw Violation(
                .home,
                "\(item.id) is shown at \(price.map { "\($0)" } ?? "no price"), "
                    + "\(isAvailable == true ? "available" : "not available"); it should be \(offers.text)")
        }
    }
}

extension [Offer] {
    /// The offers for a message.
    var text: String {
        map { $0.isListed ? "at \($0.price), \($0.isAvailable ? "available" : "not available")" : "off the menu" }
            .joined(separator: ", or ")
    }
}
