internal import Application

#if DEBUG
    internal import CommandHandling
    internal import Domain
    package import EventLoop
    internal import EventLog
    internal import TextFormats
    internal import Projections

    /// A mistake that the server makes on purpose, now and then: a test plants one to see whether a program that judges
    /// the server by its answers finds it. Release builds contain none of this.
    @LoopActor
    package final class PlantedFault: CustomStringConvertible {
        /// What goes wrong.
        package enum Kind: String, CaseIterable, Sendable {
            /// A cart's write is answered as if it were done, and is not.
            case dropWrite = "drop-write"
            /// What `CART.ADD` does is recorded twice, and answered once.
            case doubleWrite = "double-write"
            /// What an event says is in the log and in no projection. Never a stream's first event, so that the
            /// stream is known to exist, and none of an order, which no projection shows.
            case skipEvent = "skip-event"
            /// A JSON Patch lacks its last operation.
            case wrongPatch = "wrong-patch"
            /// A write with an `ID` is taken for one without.
            case lostID = "lost-id"
            /// An item costs one unit less of an option than was chosen.
            case wrongPrice = "wrong-price"
            /// An item that is added or edited with an option that is sold out is had without the option.
            case soldOut = "sold-out"
            /// What an outlet charges lacks its fee of delivery.
            case wrongCharge = "wrong-charge"
            /// What an outlet charges lacks the rates that its taxes have by service.
            case wrongRate = "wrong-rate"
            /// A line whose parts have several taxes has one.
            case wrongPart = "wrong-part"
            /// An outlet's promotions take nothing off a cart.
            case wrongDiscount = "wrong-discount"
            /// A query overlooks its first `NOT`.
            case wrongFilter = "wrong-filter"
            /// A page of orders passes one over.
            case lostRow = "lost-row"
            /// A report on an order is taken for another: a start of cooking makes it ready, and a cancellation by its
            /// customer counts as a cancellation by its outlet.
            case wrongState = "wrong-state"
            /// A change of an order leaves or brings one unit less than was asked for.
            case wrongChange = "wrong-change"
            /// A checkout claims nothing of what its outlet has counted.
            case lostClaim = "lost-claim"
            /// What an order gives back of what is counted is lost.
            case lostReturn = "lost-return"
            /// What an outlet took is added up twice.
            case doubleTakings = "double-takings"
            /// An order waits on when its time has passed, until a server starts.
            case lostDeadline = "lost-deadline"
        }

        /// What goes wrong.
        package nonisolated let kind: Kind
        /// Of so many chances, the last one is taken.
        package nonisolated let every: Int
        private var chances = 0

        /// A fault as its name and how often, `drop-write:500`; nil where there is no such fault.
        package nonisolated init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])), let every = Int(parts[1]), every > 0
            else { return nil }
            self.kind = kind
            self.every = every
        }

        /// For people: `drop-write, every 500th`.
        package nonisolated var description: String {
            let ending =
                switch (every % 100, every % 10) {
                case (11...13, _): "th"
                case (_, 1): "st"
                case (_, 2): "nd"
                case (_, 3): "rd"
                default: "th"
                }
            return "\(kind.rawValue), every \(every)\(ending)"
        }

        /// Whether it goes wrong here and now.
        func strikes(_ kind: Kind) -> Bool {
            guard kind == self.kind else { return false }
            chances += 1
            return chances.isMultiple(of: every)
        }

        // MARK: Where it strikes

        /// What is to go wrong with a cart's command that was accepted.
        func recordingFault(for command: DomainCommand) -> CommandProcessor.RecordingFault? {
            guard case .cart(let command) = command else { return nil }
            if strikes(.dropWrite) { return .drop }
            if case .add = command, strikes(.doubleWrite) { return .double }
            return nil
        }

        /// A patch as it is sent.
        func sent(_ patch: [UInt8]) -> [UInt8] {
            guard case .array(let operations)? = try? JSONValue(patch), !operations.isEmpty, strikes(.wrongPatch)
            else { return patch }
            var writer = JSONWriter()
            JSONValue.array(operations.dropLast()).write(to: &writer)
            return writer.bytes
        }

        /// What the catalogue says of an item with chosen options.
        func told(_ offer: Offer) -> Offer {
            if case .available(var item) = offer, !item.parts.isEmpty, strikes(.wrongPart) {
                item.parts = []
                return .available(item)
            }
            guard case .available(var item) = offer,
                let option = item.options.last(where: { $0.units > $0.free && $0.price > .zero }),
                strikes(.wrongPrice)
            else { return offer }
            item.unitPrice = Amount(minorUnits: item.unitPrice.minorUnits - option.price.minorUnits)
            return .available(item)
        }

        /// The options with which an item is looked for again; nil if nothing goes wrong.
        func choice(_ chosen: [ChosenOption], of offer: Offer) -> [ChosenOption]? {
            guard case .wrongChoice(.soldOut(let option)) = offer, strikes(.soldOut) else { return nil }
            return chosen.filter { $0.id != option }
        }

        /// What an outlet says of itself.
        func told(_ details: OutletDetails) -> OutletDetails {
            var details = details
            if details.pricing.delivery != nil, strikes(.wrongCharge) { details.pricing.delivery = nil }
            if details.pricing.taxes.contains(where: { !$0.rates.isEmpty }), strikes(.wrongRate) {
                for index in details.pricing.taxes.indices { details.pricing.taxes[index].rates = ByService() }
            }
            return details
        }

        /// The promotions that may take something off a cart.
        func told(_ promotions: [Promotion.Candidate]) -> [Promotion.Candidate] {
            !promotions.isEmpty && strikes(.wrongDiscount) ? [] : promotions
        }

        /// A query as it is read.
        func asked(_ words: [String]) -> [String] {
            guard let place = words.firstIndex(of: "NOT"), strikes(.wrongFilter) else { return words }
            return Array(words[..<place] + words[(place + 1)...])
        }

        /// A command about an order as it is decided.
        func decided(_ command: Order.Command) -> Order.Command {
            switch command {
            case .prepare where strikes(.wrongState): .ready
            case .cancel(by: .customer, let reason, let text) where strikes(.wrongState):
                .cancel(by: .merchant, reason, text: text)
            case .propose(let edits, let party, let wait, let now, let counted) where strikes(.wrongChange):
                .propose(edits.map(lessened), by: party, wait: wait, now: now, counted: counted)
            default: command
            }
        }

        private func lessened(_ edit: Order.LineEdit) -> Order.LineEdit {
            func lessened(_ arrival: Order.Arrival) -> Order.Arrival {
                Order.Arrival(arrival.item, quantity: max(1, arrival.quantity - 1), offer: arrival.offer)
            }
            return switch edit {
            case .reduce(let line, let quantity): .reduce(line: line, to: max(0, quantity - 1))
            case .replace(let line, let quantity, let arrival):
                .replace(line: line, to: quantity, by: lessened(arrival))
            case .add(let arrival): .add(lessened(arrival))
            }
        }

        /// Folds events into a read model, but for those that it is to miss.
        func fold(
            _ events: [Result<DecodedEvent, CorruptEvent>], into model: inout ReadModel
        ) -> [CorruptEvent] {
            var corrupt: [CorruptEvent] = []
            for result in events {
                if case .success(let event) = result, event.version > 1, event.stream.category != .order,
                    strikes(.skipEvent)
                {
                    model.skip(event)
                } else {
                    corrupt += model.apply([result])
                }
            }
            return corrupt
        }
    }
#endif
