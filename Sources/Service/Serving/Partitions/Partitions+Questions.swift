internal import Application
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

// What the read models say now.
extension Partitions {
    // MARK: Outlets

    /// The outlet with its menu; nil where there is none.
    func outlet(_ outlet: Identifier) throws(Failure) -> OutletRecord? {
        let worker = self[StreamName(.outlet, outlet)]
        if let corruption = worker.readModel.outletHome.corruption(of: outlet) { throw Failure(corruption) }
        return worker.readModel.outletHome[outlet]
    }

    /// What an outlet says of itself; nil where there is none, or it is damaged.
    ///
    /// - Parameter time: the moment at which it may be slow; nil for now.
    func details(of outlet: Identifier, at time: Timestamp? = nil) -> OutletDetails? {
        let details = (try? self.outlet(outlet))?.details(at: time ?? clock())
        #if DEBUG
            if let fault = configuration.plantedFault { return details.map(fault.told) }
        #endif
        return details
    }

    /// What an outlet says of itself, or said last; nil where there never was one, or it is damaged.
    func lastDetails(of outlet: Identifier) -> OutletDetails? {
        self[StreamName(.outlet, outlet)].model.ask { $0.outletHome.lastDetails(of: outlet) }
    }

    /// The first outlets with ids that are wanted, by their ids, also hidden ones; looks at all of them.
    func outlets(_ count: Int, where isWanted: (Identifier) -> Bool) -> [OutletRecord] {
        let wanted = workers.flatMap { $0.readModel.outletHome.shown.filter { isWanted($0.id) } }
        return Array(wanted.sorted { $0.id < $1.id }.prefix(count))
    }

    /// How many orders an outlet's kitchen has to do with, and how many of them are late.
    func openOrders(of outlet: Identifier) -> (count: Int, late: Int) {
        let now = clock()
        let orders = workers.flatMap { $0.readModel.orders.kitchen(of: outlet) }
        return (orders.count, orders.count { $0.isLate(at: now) })
    }

    /// Whether there is an outlet, or was: its orders outlive it.
    func hasKitchen(_ outlet: Identifier) -> Bool {
        let outlets = self[StreamName(.outlet, outlet)].readModel.outletHome
        return outlets.revision(of: outlet) > 0 || outlets.corruption(of: outlet) != nil
    }

    /// What an outlet's menu says of an item with some options.
    ///
    /// - Parameter wanted: the time that it is wanted for; nil for now.
    func offer(
        of item: Identifier, with chosen: [ChosenOption], at outlet: Identifier, as service: ServiceKind? = nil,
        wanted: Timestamp? = nil
    ) -> Offer {
        let now = clock()
        let (model, ahead) = (self[StreamName(.outlet, outlet)].model, timeAhead(wanted, at: outlet))
        let offer = model.ask {
            $0.outletHome.offer(of: item, with: chosen, at: outlet, for: service, ahead: ahead, now: now)
        }
        #if DEBUG
            if let fault = configuration.plantedFault {
                guard let chosen = fault.choice(chosen, of: offer) else { return fault.told(offer) }
                return model.ask {
                    $0.outletHome.offer(of: item, with: chosen, at: outlet, for: service, ahead: ahead, now: now)
                }
            }
        #endif
        return offer
    }

    /// What an outlet's menu says of lines of a cart, in their order.
    func offers(for lines: [CartLine], of cart: Cart.Contents) -> [Offer] {
        let (now, ahead) = (clock(), timeAhead(cart.wanted, at: cart.outlet))
        let offers = self[StreamName(.outlet, cart.outlet)].model.ask {
            $0.outletHome.offers(for: lines, at: cart.outlet, for: cart.service, ahead: ahead, now: now)
        }
        #if DEBUG
            if let fault = configuration.plantedFault { return offers.map(fault.told) }
        #endif
        return offers
    }

    /// The time that an order is wanted for, with what is on then; nil for as soon as it can be had.
    func timeAhead(_ wanted: Timestamp?, at outlet: Identifier) -> TimeAhead? {
        wanted.map { wanted in
            guard let details = lastDetails(of: outlet), !details.dayparts.isEmpty,
                let rules = rules(of: details.timeZone)
            else { return TimeAhead(wanted) }
            return TimeAhead(wanted, details.daypartTimes(at: wanted, in: rules))
        }
    }

    /// What lines take of what an outlet has counted. Where nothing is counted, that is found at once.
    func claims(of lines: [CartLine], at outlet: Identifier) -> [Claim] {
        self[StreamName(.supply, outlet)].model.ask { model in
            guard let left = model.supplies.left(at: outlet), !left.isEmpty else { return [] }
            #if DEBUG
                if configuration.plantedFault?.strikes(.lostClaim) ?? false { return [] }
            #endif
            return model.outletHome[outlet]?.menu.claims(of: lines) { left[$0] != nil } ?? []
        }
    }

    /// How much orders have of something that has a limit.
    func taken(_ key: Claim.Key, at outlet: Identifier) -> Int64 {
        self[StreamName(.supply, outlet)].model.ask { $0.supplies.taken(key, at: outlet) }
    }

    /// The first slot of an outlet with room after a time.
    func nextSlot(after time: Timestamp, at outlet: Identifier, as service: ServiceKind?) -> Timestamp? {
        guard let details = details(of: outlet, at: time), let rules = rules(of: details.timeZone) else { return nil }
        return details.nextSlot(
            after: time, of: service, before: details.endOfOrders(at: clock(), in: rules), in: rules
        ) { taken(.slot($0), at: outlet) }
    }

    /// The promotions of a cart's outlet, in the order of their ids, which lines each of them is about, and whether the
    /// cart's customer can use it.
    func promotions(for lines: [CartLine], of cart: Cart.Contents) -> [Promotion.Candidate] {
        let candidates = self[StreamName(.outlet, cart.outlet)].model.ask { model in
            var candidates = model.outletHome.candidates(for: lines, at: cart.outlet)
            for index in candidates.indices {
                candidates[index].note(cart.customer) { model.supplies.taken($0, at: cart.outlet) }
            }
            return candidates
        }
        #if DEBUG
            if let fault = configuration.plantedFault { return fault.told(candidates) }
        #endif
        return candidates
    }

    /// How far an order has come; nil where there is none. One that is not held counts as completed.
    func status(ofOrder order: Identifier) -> Order.Status? {
        self[StreamName(.order, order)].model.ask { $0.status(ofOrder: order) }
    }

    // MARK: Slots

    /// How many outlets, carts and orders have ids in a slot; looks at all outlets and at orders that are held.
    func keyCount(inSlot slot: Int) -> Int {
        let slot = HashSlot(number: slot)
        return workers.reduce(0) { count, worker in
            let model = worker.readModel
            let outlets = model.outletHome.shown.lazy.map(\.id)
            return outlets.count { HashSlot(of: $0) == slot } + model.orders.count(inSlot: slot)
                + model.cartCounts.count(inSlot: slot) + count
        }
    }

    // MARK: Carts

    /// The number on a cart's badge; nil where that is only known once its row was read, or the cart loaded.
    func knownCount(of cart: Identifier) throws(Failure) -> Int? {
        let stream = StreamName(.cart, cart)
        return try self[stream].model.ask { model throws(Failure) in
            guard model.knowsCarts else { return nil }
            if let corruption = model.cartCounts.quarantine[stream] { throw Failure(corruption) }
            return model.cartCounts.count(of: cart)
        }
    }

    /// The number on a cart's badge, at once or when its row was read or the cart loaded.
    func count(of cart: Identifier, completion: @escaping (Result<Int, Failure>) -> Void) {
        do throws(Failure) {
            if let known = try knownCount(of: cart) { return completion(.success(known)) }
        } catch {
            return completion(.failure(error))
        }
        let stream = StreamName(.cart, cart)
        let worker = self[stream]
        worker.readCount(of: cart) { count in
            if let count { return completion(.success(count)) }
            worker.read(stream) { result in
                completion(
                    result.map { if case .cart(let cart) = $0.state { cart.openCount } else { 0 } }.mapError {
                        Failure($0)
                    })
            }
            worker.startWork()
        }
    }

    /// A cart with its lines and what has become of them; nil where it never was.
    func document(of cart: Identifier, _ committed: CommittedState) -> SealedDocument? {
        guard committed.version > 0, case .cart(let state) = committed.state else { return nil }
        return SealedDocument(state.contents?.textOwner(of: cart)) { [self] texts in
            CartDocument.bytes(
                of: cart, state: state, version: committed.version, updatedAt: committed.updatedAt, texts: texts,
                promotions: { lines, cart in LoopActor.assumeIsolated { self.promotions(for: lines, of: cart) } },
                at: LoopActor.assumeIsolated { self.clock() },
                details: { cart in LoopActor.assumeIsolated { self.details(of: cart.outlet, at: cart.wanted) } }
            ) { lines, cart in LoopActor.assumeIsolated { self.offers(for: lines, of: cart) } }
        }
    }

    /// What a cart costs now; nil where it never was.
    func quote(of cart: Identifier, _ committed: CommittedState) -> SealedDocument? {
        guard committed.version > 0, case .cart(let state) = committed.state else { return nil }
        return SealedDocument(state.contents?.textOwner(of: cart)) { [self] texts in
            LoopActor.assumeIsolated {
                QuoteDocument.bytes(
                    of: cart, state: state, version: committed.version, texts: texts, offers: offers,
                    promotions: promotions(for:of:), at: self.clock(),
                    details: { self.details(of: $0.outlet, at: $0.wanted) },
                    hours: OutletDetails.hours(at: clock(), rules: { self.rules(of: $0) }) { slot in
                        state.contents.map { self.taken(.slot(slot), at: $0.outlet) } ?? 0
                    })
            }
        }
    }

    // MARK: Orders

    /// What an outlet took between moments: its orders are where their carts are.
    func takings(of outlet: Identifier, between moments: [Timestamp]) -> [TakingsSums] {
        var result = [TakingsSums](repeating: TakingsSums(), count: moments.count - 1)
        for worker in workers {
            let sums = worker.model.ask { $0.takings.sums(of: outlet, between: moments) }
            #if DEBUG
                if configuration.plantedFault?.strikes(.doubleTakings) ?? false {
                    for (index, sums) in sums.enumerated() { result[index].add(sums) }
                }
            #endif
            for index in result.indices { result[index].add(sums[index]) }
        }
        return result
    }

    /// What was read of the orders of each partition that are not held.
    typealias StoredLists = [Int: StoredOrders]

    /// A page of orders, or before which position of partitions stored orders have to be read first.
    ///
    /// - Parameter positions: before which position of each partition the page begins.
    func orders(
        _ question: OrderQuestion, before positions: [Int64], _ stored: StoredLists
    ) -> (page: [UInt8], missing: [Int: Int64]) {
        var patience = OrderQuestion.patience
        var missing: [Int: Int64] = [:]
        let page = question.page(before: positions) { partition, position in
            guard missing[partition] == nil else { return .end }
            let (model, stored) = (self[partition].model, stored[partition] ?? StoredOrders())
            var next = model.ask { $0.orders.newest(question.filter, before: position, stored, patience: &patience) }
            #if DEBUG
                if case .order(let row) = next, configuration.plantedFault?.strikes(.lostRow) ?? false {
                    next = model.ask {
                        $0.orders.newest(question.filter, before: row.position, stored, patience: &patience)
                    }
                }
            #endif
            if case .stored(let before) = next { missing[partition] = before }
            return next
        }
        return (page, missing)
    }

    /// Before which position of each partition a page begins.
    func positions(of question: OrderQuestion) -> [Int64] {
        question.cursor?.positions ?? workers.map { $0.position + 1 }
    }

    /// Reads what a page lacks of orders that are not held.
    func read(_ missing: [Int: Int64], of question: OrderQuestion, into stored: inout StoredLists) async throws(Failure)
    {
        for (partition, position) in missing {
            try await self[partition].readOrders(
                question.filter, before: position, into: &stored[partition, default: StoredOrders()])
        }
    }
}
