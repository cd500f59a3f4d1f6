import Domain
import SeededRandom
import Testing

@Suite struct MenuPutProperties {
    @Test(arguments: SeededGenerator.seeds)
    func `putting a menu leads to it, keeps suspensions, and changes nothing the second time`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var state = Menu.initial
        for _ in 0..<25 {
            for id in state.entries.values.map(\.id) where random.chance(30) {
                try Menu.evolve(&state, .itemSuspended(id, until: random.maybe { $0.pick([1, 2, 3]) }))
            }
            let before = state.entries
            let target = MenuDocument.random(&random)

            let events = try Menu.decide(.put(target), in: state)
            state = try Menu.state(after: events, from: state)

            #expect(state.document == target)
            #expect(state.entries.count == target.sections.reduce(0) { $0 + $1.items.count })
            for entry in state.entries.values { #expect(entry.suspension == before[entry.id]?.suspension) }
            #expect(try Menu.decide(.put(target), in: state) == [])
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a menu knows the bytes of its texts, whatever changes`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var state = Menu.initial
        for _ in 0..<100 {
            let command = Menu.Command.random(&random)
            let reasons = command.reasonsAgainst(state)
            for event in Menu.events(of: command, in: state, unless: reasons) ?? [] { try Menu.evolve(&state, event) }
            #expect(state.bytes == state.document.textBytes)
        }
        #expect(state.bytes == (try Menu.state(after: state.document.history).bytes))
    }

    @Test func `items of a section are brought into any order with the fewest moves`() throws {
        for count in 0...6 {
            let ids = (0..<count).map { Identifier("i\($0)")! }
            let fewest = fewestSteps(from: [ids], singleMoves)
            #expect(fewest.count == (1...max(count, 1)).reduce(1, *))
            let state = try Menu.state(after: MenuDocument(lists: [ids]).history)
            for (target, moves) in fewest {
                try expectItemMoves(moves, from: state, to: MenuDocument(lists: target))
            }
        }
    }

    @Test func `items are spread over sections in any way with the fewest moves`() throws {
        for start in [[["a", "b", "c", "d"], []], [["a", "b"], ["c", "d"]], [["a"], ["b", "c"], ["d"]]] {
            let start = start.map { $0.map { Identifier($0)! } }
            let state = try Menu.state(after: MenuDocument(lists: start).history)
            for (target, moves) in fewestSteps(from: start, singleMoves) {
                try expectItemMoves(moves, from: state, to: MenuDocument(lists: target))
            }
        }
    }

    @Test func `sections are brought into any order with the fewest moves`() throws {
        let ids = (0..<6).map { Identifier("s\($0)")! }
        func menu(_ ids: [Identifier]) -> MenuDocument {
            MenuDocument(sections: ids.map { MenuSection(header: .sample($0), items: [.sample($0)]) })
        }
        let state = try Menu.state(after: menu(ids).history)
        for (target, moves) in fewestSteps(from: [ids], singleMoves) {
            let events = try Menu.decide(.put(menu(target[0])), in: state)
            #expect(events.count == moves)
            #expect(try Menu.state(after: events, from: state).document == menu(target[0]))
        }
    }

    private func expectItemMoves(_ moves: Int, from state: MenuState, to target: MenuDocument) throws {
        let events = try Menu.decide(.put(target), in: state)
        #expect(events.count == moves)
        #expect(
            events.allSatisfy {
                if case .itemMoved = $0 { true } else { false }
            })
        #expect(try Menu.state(after: events, from: state).document == target)
    }
}

// MARK: Brute force

private typealias Lists = [[Identifier]]

/// Every arrangement that steps can lead to, with the smallest number of steps: breadth first.
private func fewestSteps(from start: Lists, _ next: (Lists) -> [Lists]) -> [Lists: Int] {
    var steps = [start: 0]
    var frontier = [start]
    while !frontier.isEmpty {
        var following: [Lists] = []
        for lists in frontier {
            for reached in next(lists) where steps[reached] == nil {
                steps[reached] = steps[lists]! + 1
                following.append(reached)
            }
        }
        frontier = following
    }
    return steps
}

/// The results of moving one id, which may go to any place of any list.
private func singleMoves(_ lists: Lists) -> [Lists] {
    lists.indices.flatMap { from in
        lists[from].indices.flatMap { index in
            var rest = lists
            let id = rest[from].remove(at: index)
            return rest.indices.flatMap { to in
                (0...rest[to].count).map { place in
                    var moved = rest
                    moved[to].insert(id, at: place)
                    return moved
                }
            }
        }
    }
}

extension Menu.Command {
    /// Why it is refused: what it names is not there, or it puts something before itself. All else is right.
    fileprivate func reasonsAgainst(_ menu: MenuState) -> Set<Rejection.Code> {
        let sections = menu.document.sections
        let items = sections.flatMap { $0.items.map(\.id) }
        var reasons: Set<Rejection.Code> = []
        func need(_ isThere: Bool) { if !isThere { reasons.insert(.notFound) } }
        switch self {
        case .putSection(let header, let before?, _):
            if before == header.id { reasons.insert(.invalid) }
            need(sections.contains { $0.header.id == before })
        case .removeSection(let id): need(sections.contains { $0.header.id == id })
        case .putItem(let item, let section, let before, _, _):
            let target = sections.first { $0.header.id == section }
            need(target != nil)
            if let before {
                if before == item.id { reasons.insert(.invalid) }
                need(target?.items.contains { $0.id == before } ?? false)
            }
        case .removeItem(let id), .reprice(let id, _), .suspend(let id, _, _): need(items.contains(id))
        default: break
        }
        return reasons
    }

    /// A command about few ids, with texts of many lengths.
    fileprivate static func random(_ random: inout SeededGenerator) -> Menu.Command {
        func text() -> Text { Text(String(repeating: random.pick(["x", "é"]), count: random.pick([1, 7, 90]))) }
        let (item, section) = (
            random.pick(["i1", "i2", "i3"] as [Identifier]), random.pick(["s1", "s2", "s3"] as [Identifier])
        )
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .put(.random(&random))
        case 1: return .putSection(.sample(section, title: text()), before: random.maybe { $0.pick(["s1", "s2"]) })
        case 2: return .removeSection(section)
        case 3: return .removeItem(item)
        case 4: return .reprice(item, random.pick([1, 2]))
        case 5: return .suspend(item, until: nil, now: 0)
        default:
            let kind = random.pick(ItemKind.all)
            return .putItem(
                MenuItem(
                    id: item, kind: kind.name, name: text(),
                    description: random.chance(50) ? text() : nil,
                    price: 1, cuisine: random.chance(50) ? text() : nil,
                    tags: random.chance(50) ? [text(), text()] : [],
                    imageSmall: random.chance(50) ? "/\(text())" : nil,
                    imageLarge: random.chance(50) ? "/\(text())" : nil,
                    images: random.pick([[], [ItemImage(url: "/\(text())", alternative: text()), ItemImage(url: "/")]]),
                    links: random.pick([
                        [], [ItemLink(rel: "source", url: "/\(text())"), ItemLink(rel: item, url: "/", title: text())],
                    ]),
                    attributes: random.attributes(of: kind)),
                section: section, before: random.maybe { $0.pick(["i1", "i2"]) })
        }
    }
}

extension AttributeValue {
    /// What it counts as.
    fileprivate var size: Int {
        switch self {
        case .number: 20
        case .boolean: 8
        case .text(let text): text.utf8.count + 6
        case .texts(let texts): texts.map { $0.utf8.count + 3 }.reduce(6, +)
        }
    }
}

extension MenuDocument {
    /// The bytes of all its texts and attributes.
    fileprivate var textBytes: Int {
        var texts: [Text?] = []
        var values = 0
        for section in sections {
            let header = section.header
            texts += [Text(header.id.rawValue), header.title, header.kind, header.layout.style]
            for item in section.items {
                texts += [Text(item.id.rawValue), item.kind, item.name, item.description, item.cuisine]
                texts += [item.imageSmall, item.imageLarge] + item.tags
                texts += item.images.flatMap { [$0.url, $0.alternative] }
                texts += item.links.flatMap { [Text($0.rel.rawValue), $0.url, $0.title] }
                values += 20 * item.images.count + 30 * item.links.count
                texts += item.attributes.list.map { Text($0.name.rawValue) }
                values += item.attributes.list.map(\.value.size).reduce(0, +)
            }
        }
        return texts.reduce(values) { $0 + ($1?.utf8.count ?? 0) }
    }

    /// A menu of sections `s0`, `s1`, … with these items.
    fileprivate init(lists: Lists) {
        self.init(
            sections: lists.enumerated().map { index, ids in
                MenuSection(header: .sample(Identifier("s\(index)")!), items: ids.map { .sample($0) })
            })
    }

    /// A menu with few ids, so that two menus have much in common.
    fileprivate static func random(_ random: inout SeededGenerator) -> MenuDocument {
        var items = (0..<14).map { Identifier("i\($0)")! }.shuffled(using: &random).filter { _ in random.chance(75) }
        let sections = (0..<5).map { Identifier("s\($0)")! }.shuffled(using: &random).filter { _ in random.chance(75) }
        return MenuDocument(
            sections: sections.map { id in
                let count = Int.random(in: 0...min(6, items.count), using: &random)
                defer { items.removeFirst(count) }
                return MenuSection(
                    header: .sample(id, title: random.pick(["One", "Two"])),
                    items: items.prefix(count).map { id in
                        let kind = random.pick(ItemKind.all)
                        return MenuItem(
                            id: id, kind: kind.name, name: random.pick(["Tea", "Chai"]),
                            price: kind.needsPrice || random.chance(50) ? random.pick([100, 200]) : nil,
                            tags: random.pick([[], ["hot"]]), attributes: random.attributes(of: kind))
                    })
            })
    }
}
