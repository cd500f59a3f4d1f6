import Domain
import EventLog
import EventLogContract
import SeededRandom

/// Every case of every aggregate's events, by the name of its kind. A new event of the domain does not compile here
/// until it has a case, and then fails until it has its golden text.
enum EventCase: String, CaseIterable {
    case outletRegistered = "outlet.registered"
    case outletDetailsChanged = "outlet.detailsChanged"
    case outletOpened = "outlet.opened"
    case outletClosed = "outlet.closed"
    case outletPaused = "outlet.paused"
    case outletSlowed = "outlet.slowed"
    case outletDaypartsChanged = "outlet.daypartsChanged"
    case outletHidden = "outlet.hidden"
    case outletShown = "outlet.shown"
    case outletRemoved = "outlet.removed"
    case sectionAdded = "menu.sectionAdded"
    case sectionChanged = "menu.sectionChanged"
    case sectionMoved = "menu.sectionMoved"
    case sectionRemoved = "menu.sectionRemoved"
    case itemAdded = "menu.itemAdded"
    case itemChanged = "menu.itemChanged"
    case itemMoved = "menu.itemMoved"
    case itemRemoved = "menu.itemRemoved"
    case itemRepriced = "menu.itemRepriced"
    case itemSuspended = "menu.itemSuspended"
    case itemResumed = "menu.itemResumed"
    case groupPut = "menu.groupPut"
    case groupRemoved = "menu.groupRemoved"
    case optionRepriced = "menu.optionRepriced"
    case optionSuspended = "menu.optionSuspended"
    case optionResumed = "menu.optionResumed"
    case feedChecked = "menu.feedChecked"
    case cartItemAdded = "cart.itemAdded"
    case cartQuantityChanged = "cart.quantityChanged"
    case cartLineRemoved = "cart.lineRemoved"
    case cartCleared = "cart.cleared"
    case cartLineEdited = "cart.lineEdited"
    case cartTipSet = "cart.tipSet"
    case cartServiceChosen = "cart.serviceChosen"
    case cartCodeAdded = "cart.codeAdded"
    case cartCodeRemoved = "cart.codeRemoved"
    case cartCheckedOut = "cart.checkedOut"
    case cartCheckoutBegun = "cart.checkoutBegun"
    case cartCheckoutRefused = "cart.checkoutRefused"
    case orderPlaced = "order.placed"
    case orderReleased = "order.released"
    case orderScheduled = "order.scheduled"
    case orderRefunded = "order.refunded"
    case orderPaymentReported = "order.paymentReported"
    case orderCoverLost = "order.coverLost"
    case orderAccepted = "order.accepted"
    case orderRejected = "order.rejected"
    case orderPreparationStarted = "order.preparationStarted"
    case orderReadied = "order.readied"
    case orderCompleted = "order.completed"
    case orderDelayed = "order.delayed"
    case orderCancelled = "order.cancelled"
    case orderChangeProposed = "order.changeProposed"
    case orderChanged = "order.changed"
    case orderChangeDeclined = "order.changeDeclined"
    case orderChangeExpired = "order.changeExpired"
    case orderChangesNoted = "order.changesNoted"
    case orderClaimsReturned = "order.claimsReturned"
    case promotionsPut = "promotions.put"
    case promotionsEnded = "promotions.ended"
    case promotionsSpent = "promotions.spent"
    case promotionsResumed = "promotions.resumed"
    case supplyStocked = "supply.stocked"
    case supplyHeld = "supply.held"
    case supplyRefused = "supply.refused"
    case supplyReturned = "supply.returned"
    case customerForgotten = "customer.forgotten"
    case userPut = "user.put"
    case userRemoved = "user.removed"
    case relayPut = "relay.put"
    case relayMoved = "relay.moved"
    case relaySkipped = "relay.skipped"

    init(_ event: DomainEvent) {
        self =
            switch event {
            case .outlet(.registered): .outletRegistered
            case .outlet(.detailsChanged): .outletDetailsChanged
            case .outlet(.opened): .outletOpened
            case .outlet(.closed): .outletClosed
            case .outlet(.paused): .outletPaused
            case .outlet(.slowed): .outletSlowed
            case .outlet(.daypartsChanged): .outletDaypartsChanged
            case .outlet(.openedByHours): .outletOpened
            case .outlet(.closedByHours): .outletClosed
            case .outlet(.hidden): .outletHidden
            case .outlet(.shown): .outletShown
            case .outlet(.removed): .outletRemoved
            case .menu(.sectionAdded): .sectionAdded
            case .menu(.sectionChanged): .sectionChanged
            case .menu(.sectionMoved): .sectionMoved
            case .menu(.sectionRemoved): .sectionRemoved
            case .menu(.itemAdded): .itemAdded
            case .menu(.itemChanged): .itemChanged
            case .menu(.itemMoved): .itemMoved
            case .menu(.itemRemoved): .itemRemoved
            case .menu(.itemRepriced): .itemRepriced
            case .menu(.itemSuspended): .itemSuspended
            case .menu(.itemResumed): .itemResumed
            case .menu(.groupPut): .groupPut
            case .menu(.groupRemoved): .groupRemoved
            case .menu(.optionRepriced): .optionRepriced
            case .menu(.optionSuspended): .optionSuspended
            case .menu(.optionResumed): .optionResumed
            case .menu(.feedChecked): .feedChecked
            case .cart(.itemAdded): .cartItemAdded
            case .cart(.quantityChanged): .cartQuantityChanged
            case .cart(.lineRemoved): .cartLineRemoved
            case .cart(.cleared): .cartCleared
            case .cart(.lineEdited): .cartLineEdited
            case .cart(.tipSet): .cartTipSet
            case .cart(.serviceChosen): .cartServiceChosen
            case .cart(.codeAdded): .cartCodeAdded
            case .cart(.codeRemoved): .cartCodeRemoved
            case .cart(.checkedOut): .cartCheckedOut
            case .cart(.checkoutBegun): .cartCheckoutBegun
            case .cart(.checkoutRefused): .cartCheckoutRefused
            case .order(.placed): .orderPlaced
            case .order(.released): .orderReleased
            case .order(.scheduled): .orderScheduled
            case .order(.refunded): .orderRefunded
            case .order(.paymentReported): .orderPaymentReported
            case .order(.coverLost): .orderCoverLost
            case .order(.accepted): .orderAccepted
            case .order(.rejected): .orderRejected
            case .order(.preparationStarted): .orderPreparationStarted
            case .order(.readied): .orderReadied
            case .order(.completed): .orderCompleted
            case .order(.delayed): .orderDelayed
            case .order(.cancelled): .orderCancelled
            case .order(.changeProposed): .orderChangeProposed
            case .order(.changed): .orderChanged
            case .order(.changeDeclined): .orderChangeDeclined
            case .order(.changeExpired): .orderChangeExpired
            case .order(.changesNoted): .orderChangesNoted
            case .order(.claimsReturned): .orderClaimsReturned
            case .promotions(.put): .promotionsPut
            case .promotions(.ended): .promotionsEnded
            case .promotions(.spent): .promotionsSpent
            case .promotions(.resumed): .promotionsResumed
            case .supply(.stocked): .supplyStocked
            case .supply(.held): .supplyHeld
            case .supply(.refused): .supplyRefused
            case .supply(.returned): .supplyReturned
            case .deed(.customerForgotten): .customerForgotten
            case .deed(.userPut): .userPut
            case .deed(.userRemoved): .userRemoved
            case .deed(.relayPut): .relayPut
            case .deed(.relayMoved): .relayMoved
            case .deed(.relaySkipped): .relaySkipped
            }
    }

    /// An event of this case with any content.
    func random(_ random: inout SeededGenerator) -> DomainEvent {
        switch self {
        case .outletRegistered: .outlet(.registered(random.details()))
        case .outletDetailsChanged:
            .outlet(.detailsChanged(random.details().all.filter { _ in Bool.random(using: &random) }))
        case .outletOpened: .outlet(random.pick([.opened, .openedByHours]))
        case .outletClosed: .outlet(random.pick([.closed, .closedByHours(opensAt: random.maybe { $0.time() })]))
        case .outletDaypartsChanged: .outlet(.daypartsChanged(random.daypartTimes()))
        case .outletSlowed: .outlet(.slowed(minutes: random.integer(), until: random.time()))
        case .outletPaused: .outlet(.paused(until: random.time(), reason: random.maybe { $0.text() }))
        case .outletHidden: .outlet(.hidden)
        case .outletShown: .outlet(.shown)
        case .outletRemoved: .outlet(.removed)
        case .sectionAdded: .menu(.sectionAdded(random.header(), before: random.maybe { $0.identifier() }))
        case .sectionChanged: .menu(.sectionChanged(random.header()))
        case .sectionMoved: .menu(.sectionMoved(random.identifier(), before: random.maybe { $0.identifier() }))
        case .sectionRemoved: .menu(.sectionRemoved(random.identifier()))
        case .itemAdded:
            .menu(
                .itemAdded(random.item(), section: random.identifier(), before: random.maybe { $0.identifier() }))
        case .itemChanged: .menu(.itemChanged(random.item()))
        case .itemMoved:
            .menu(
                .itemMoved(
                    random.identifier(), section: random.identifier(), before: random.maybe { $0.identifier() }))
        case .itemRemoved: .menu(.itemRemoved(random.identifier()))
        case .itemRepriced: .menu(.itemRepriced(random.identifier(), random.amount()))
        case .itemSuspended:
            .menu(
                .itemSuspended(
                    random.identifier(), until: random.maybe { $0.time() }, by: random.pick([.merchant, .stock])))
        case .itemResumed: .menu(.itemResumed(random.identifier(), by: random.pick([.merchant, .stock])))
        case .groupPut: .menu(.groupPut(random.group()))
        case .groupRemoved: .menu(.groupRemoved(random.identifier()))
        case .optionRepriced:
            .menu(.optionRepriced(random.identifier(), random.amount(), size: random.maybe { $0.identifier() }))
        case .optionSuspended:
            .menu(
                .optionSuspended(
                    random.identifier(), until: random.maybe { $0.time() }, by: random.pick([.merchant, .stock])))
        case .optionResumed: .menu(.optionResumed(random.identifier(), by: random.pick([.merchant, .stock])))
        case .feedChecked: .menu(.feedChecked(random.feedCheck()))
        case .cartItemAdded:
            .cart(
                .itemAdded(
                    random.line(), outlet: random.identifier(), currency: random.currency(),
                    customer: random.maybe { $0.identifier() }))
        case .cartQuantityChanged:
            .cart(.quantityChanged(line: random.text(), from: random.integer(), to: random.quantity()))
        case .cartLineRemoved: .cart(.lineRemoved(line: random.text(), quantity: random.integer()))
        case .cartCleared: .cart(.cleared(count: random.integer()))
        case .cartLineEdited:
            .cart(.lineEdited(line: random.text(), to: random.line(), customer: random.maybe { $0.identifier() }))
        case .cartTipSet: .cart(.tipSet(random.amount()))
        case .cartServiceChosen:
            .cart(
                .serviceChosen(
                    random.pick(ServiceKind.allCases), table: random.maybe { $0.text() },
                    wanted: random.maybe { $0.time() }))
        case .cartCheckedOut:
            .cart(
                .checkedOut(
                    order: random.identifier(), lines: random.lines(), charges: random.charges(),
                    total: random.amount(),
                    customer: random.maybe { $0.identifier() },
                    name: random.maybe { SealedText(ciphertext: $0.text()) },
                    handover: random.handover()))
        case .cartCheckoutBegun:
            .cart(
                .checkoutBegun(
                    Cart.Checkout(
                        order: random.identifier(), outlet: random.identifier(), claims: random.claims(),
                        at: random.time(), lines: random.lines(), charges: random.charges(), total: random.amount(),
                        customer: random.maybe { $0.identifier() },
                        name: random.maybe { SealedText(ciphertext: $0.text()) }, handover: random.handover(),
                        terms: random.terms(), missing: random.pick(Order.Missing.allCases),
                        pricing: random.pricing())))
        case .cartCodeAdded: .cart(.codeAdded(random.text()))
        case .cartCodeRemoved: .cart(.codeRemoved(random.text()))
        case .promotionsPut: .promotions(.put(random.promotion()))
        case .promotionsEnded: .promotions(.ended(random.identifier()))
        case .promotionsSpent: .promotions(.spent(random.identifier()))
        case .promotionsResumed: .promotions(.resumed(random.identifier()))
        case .cartCheckoutRefused: .cart(.checkoutRefused(order: random.identifier(), random.refusal()))
        case .orderPlaced:
            .order(
                .placed(
                    Order.Placement(
                        cart: random.identifier(), outlet: random.identifier(), currency: random.currency(),
                        lines: random.lines(), charges: random.charges(), total: random.amount(),
                        customer: random.maybe { $0.identifier() },
                        name: random.maybe { SealedText(ciphertext: $0.text()) }, terms: random.terms(),
                        handover: random.handover(), missing: random.pick(Order.Missing.allCases),
                        pricing: random.pricing(), claims: random.claims())))
        case .orderReleased: .order(.released(acceptBy: random.maybe { $0.time() }))
        case .orderAccepted:
            .order(.accepted(readyBy: random.maybe { $0.time() }, by: random.pick(Order.Party.allCases)))
        case .orderRejected: .order(.rejected(random.ending()))
        case .orderPreparationStarted: .order(.preparationStarted)
        case .orderScheduled: .order(.scheduled)
        case .orderRefunded:
            .order(
                .refunded(
                    Order.Refund(
                        random.amount(),
                        taxes: random.pick([
                            [], [Order.Refund.Tax(random.amount())],
                            [
                                Order.Refund.Tax(
                                    id: random.identifier(), rate: random.rate(), base: random.amount(),
                                    random.amount()), Order.Refund.Tax(id: random.identifier(), random.amount()),
                            ],
                        ]), random.pick(Order.Reason.allCases),
                        units: random.maybe { Order.Refund.Units(line: $0.text(), quantity: $0.integer()) })))
        case .orderPaymentReported:
            .order(
                .paymentReported(
                    Order.Payment(
                        reference: random.text(), random.pick(Order.PaymentKind.allCases), random.amount(),
                        of: random.pick([.own, .report(random.text()), .unclear])),
                    isInDoubt: random.chance(50)))
        case .orderCoverLost: .order(.coverLost(payBy: random.time()))
        case .orderReadied: .order(.readied)
        case .orderCompleted: .order(.completed(by: random.pick(Order.Party.allCases)))
        case .orderDelayed:
            .order(.delayed(readyBy: random.time(), text: random.maybe { $0.personalText() }))
        case .orderCancelled: .order(.cancelled(random.ending()))
        case .orderChangeProposed: .order(.changeProposed(random.change(), until: random.time()))
        case .orderChanged: .order(.changed(random.change()))
        case .orderChangeDeclined: .order(.changeDeclined(by: random.pick(Order.Party.allCases)))
        case .orderChangeExpired: .order(.changeExpired)
        case .orderChangesNoted: .order(.changesNoted)
        case .orderClaimsReturned: .order(.claimsReturned)
        case .supplyStocked: .supply(.stocked(random.claimKey(), left: random.maybe { Int64($0.integer()) }))
        case .supplyHeld: .supply(.held(random.claims(), order: random.identifier(), at: random.time()))
        case .supplyRefused: .supply(.refused(random.refusal(), order: random.identifier(), at: random.time()))
        case .supplyReturned: .supply(.returned(random.claims(), order: random.identifier()))
        case .customerForgotten: .deed(.customerForgotten)
        case .userPut:
            .deed(
                .userPut(
                    Deed.User(
                        role: random.text(), grants: random.maybe { [$0.identifier(), $0.identifier()] } ?? [],
                        isEnabled: Bool.random(using: &random), change: random.text())))
        case .userRemoved: .deed(.userRemoved)
        case .relayPut: .deed(.relayPut)
        case .relayMoved:
            .deed(.relayMoved(partition: Int64(random.integer()), position: Int64(random.integer())))
        case .relaySkipped:
            .deed(
                .relaySkipped(
                    partition: Int64(random.integer()), position: Int64(random.integer()), reason: random.text()))
        }
    }
}

extension SeededGenerator {
    mutating func text() -> Text {
        let parts = [
            "a", "Spice Route", "é", "e\u{301}", "त", "🍱", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "{}", ",",
        ]
        return Text((0...Int.random(in: 0...6, using: &self)).map { _ in pick(parts) }.joined())
    }

    mutating func personalText() -> PersonalText {
        Bool.random(using: &self) ? .plain(text()) : .sealed(SealedText(ciphertext: text()))
    }

    mutating func integer() -> Int {
        pick([.min, -1, 0, 1, 99, .max, .random(in: .min ... .max, using: &self)])
    }

    mutating func identifier() -> Identifier {
        Identifier(pick(["a", "cart-1:b.C_9", String(repeating: "x", count: Identifier.maximumLength)]))!
    }

    mutating func currency() -> Currency { Currency(pick(["INR", "USD", "EUR"]))! }
    mutating func quantity() -> Int { pick([1, 99, 1_000_000, .max]) }
    mutating func amount() -> Amount { Amount(minorUnits: Int64(integer())) }
    mutating func time() -> Timestamp { Timestamp(millisecondsSinceEpoch: Int64(integer())) }
    mutating func texts() -> [Text] { (0..<Int.random(in: 0...3, using: &self)).map { _ in text() } }

    mutating func details() -> OutletDetails {
        OutletDetails(
            name: text(), city: maybe { $0.text() }, area: maybe { $0.text() }, address: maybe { $0.text() },
            currency: currency(), timeZone: text(), cuisines: texts(), priceForTwo: maybe { $0.amount() },
            rating: maybe { Rating(hundredths: $0.pick([0, 1, 5, 50, 440, 500]))! },
            ratingCount: maybe { $0.integer() }, deliveryMinutes: maybe { $0.integer() },
            minimumOrder: maybe { $0.amount() },
            hours: pick([[], OpeningHours.Day.allCases.map { OpeningHours(day: $0, opens: 0, closes: 1_440)! }]),
            specialDays: pick([
                [], [.init(CalendarDay("2026-12-24")!, [OpeningPeriod(opens: 0, closes: 1)!])],
            ]),
            follows: pick(OutletDetails.Opener.allCases), prepMinutes: maybe { $0.integer() },
            acceptWithin: maybe { $0.integer() },
            payment: pick(OutletDetails.Payment.allCases), payWithin: maybe { $0.integer() },
            dayStarts: maybe { $0.integer() }, pricing: pricing(),
            services: services(), orderAheadDays: pick([0, 14]),
            slots: maybe { .init(minutes: $0.integer(), orders: $0.maybe { $0.integer() }) },
            dayparts: pick([
                [], [Daypart(id: identifier(), hours: [OpeningHours(day: .friday, opens: 0, closes: 1_440)!])],
            ]))
    }

    mutating func daypartTimes() -> DaypartTimes {
        DaypartTimes(
            active: pick([[], [identifier()]]),
            later: pick([[], [.init(identifier(), begins: nil), .init(identifier(), begins: time())]]))
    }

    mutating func handover() -> Handover {
        Handover(
            maybe { $0.pick(ServiceKind.allCases) }, table: maybe { $0.text() },
            phone: maybe { SealedText(ciphertext: $0.text()) }, address: maybe { SealedText(ciphertext: $0.text()) })
    }

    private mutating func byService<Value>(_ value: (inout SeededGenerator) -> Value) -> ByService<Value> {
        var values = ByService<Value>()
        for service in ServiceKind.allCases where chance(30) { values[service] = value(&self) }
        return values
    }

    private mutating func services() -> ByService<OfferedService> {
        byService { random in
            OfferedService(
                charges: random.maybe { $0.pricing().charges }, minimumOrder: random.maybe { $0.amount() },
                prepMinutes: random.maybe { $0.integer() },
                requirements: OfferedService.Requirement.allCases.filter { _ in random.chance(30) },
                hours: random.pick([nil, [], [OpeningHours(day: .friday, opens: 0, closes: 1_440)!]]))
        }
    }

    mutating func header() -> SectionHeader {
        SectionHeader(
            id: identifier(), title: text(), kind: text(),
            layout: pick([
                .list, .horizontalCard(width: 1, height: 10_000), Layout(style: text()),
                Layout(style: "grid", minimumWidth: integer()),
            ]),
            sticky: Bool.random(using: &self), daypart: maybe { $0.identifier() })
    }

    mutating func item() -> MenuItem {
        MenuItem(
            id: identifier(), kind: text(), name: text(), description: maybe { $0.text() },
            price: maybe { $0.amount() }, cuisine: maybe { $0.text() }, tags: texts(),
            imageSmall: maybe { $0.text() }, imageLarge: maybe { $0.text() },
            images: texts().map { ItemImage(url: $0, alternative: maybe { $0.text() }) },
            links: texts().map { ItemLink(rel: identifier(), url: $0, title: maybe { $0.text() }) },
            maxQuantity: maybe { $0.integer() },
            attributes: attributes(), options: pick([[], [identifier()]]), tax: maybe { $0.identifier() },
            servicePrices: byService { $0.amount() }, isCombo: chance(50), daypart: maybe { $0.identifier() },
            promotion: maybe { $0.identifier() })
    }

    mutating func rate() -> Rate { Rate(thousandths: pick([0, 8_875, 100_000]))! }

    private mutating func fee() -> PricingTerms.Fee {
        PricingTerms.Fee(amount(), freeFrom: maybe { $0.amount() }, tax: maybe { $0.identifier() })
    }

    mutating func pricing() -> PricingTerms {
        PricingTerms(
            taxIncluded: maybe { $0.chance(50) },
            taxes: texts().map {
                PricingTerms.Tax(id: identifier(), name: $0, rate: rate(), rates: byService { $0.rate() })
            },
            service: maybe { PricingTerms.Service(rate: $0.rate(), tax: $0.maybe { $0.identifier() }) },
            smallOrder: maybe { $0.fee() }, delivery: maybe { $0.fee() })
    }

    mutating func group() -> OptionGroup {
        OptionGroup(
            id: identifier(), title: text(), minimum: integer(), maximum: integer(), free: integer(),
            setsPrice: chance(50),
            options: texts().map { name in
                MenuOption(
                    id: identifier(), name: name, price: amount(),
                    sizePrices: pick([[], [MenuOption.SizePrice(identifier(), amount())]]),
                    item: maybe { $0.identifier() }, standard: integer(), maximum: integer(),
                    groups: pick([[], [identifier()]]), servicePrices: byService { $0.amount() },
                    tax: maybe { $0.identifier() })
            })
    }

    private mutating func option() -> LineOption {
        let units = quantity()
        return LineOption(identifier(), name: text(), units: units, price: amount(), free: pick([0, 1, units]))
    }

    mutating func charges() -> [Charge] {
        texts().map {
            Charge(
                pick(Charge.Kind.allCases), id: maybe { $0.identifier() }, name: $0,
                by: maybe { $0.pick(Promotion.Payer.allCases) }, rate: maybe { $0.rate() },
                amount(), isIncluded: chance(50), shares: pick([[], [amount(), amount()]]),
                bases: pick([[], [amount(), amount()]]))
        }
    }

    mutating func promotion() -> Promotion {
        Promotion(
            id: identifier(), title: text(), on: pick(Promotion.Target.allCases),
            pick([.percent(rate()), .amount(amount()), .price(amount())]),
            of: pick([.all, .init(items: [identifier()], sections: [identifier()], tags: [text()])]),
            buy: pick([0, 1, 2]), get: pick([1, 3]), minimum: maybe { $0.amount() }, code: maybe { $0.text() },
            from: maybe { $0.time() }, until: maybe { $0.time() },
            service: maybe { $0.pick(ServiceKind.allCases) }, limit: maybe { Int64($0.integer()) },
            perCustomer: maybe { Int64($0.integer()) }, cap: maybe { $0.amount() }, isAlone: chance(50),
            by: pick(Promotion.Payer.allCases))
    }

    mutating func feedCheck() -> FeedCheck {
        FeedCheck(
            pick(FeedCheck.State.allCases), at: time(), refreshedAt: maybe { $0.time() }, source: maybe { $0.text() },
            problems: texts(),
            validators: maybe {
                FeedCheck.Validators(etag: $0.maybe { $0.text() }, modified: $0.maybe { $0.text() }, key: $0.text())
            })
    }

    mutating func attributes() -> ItemAttributes {
        let names = ["a", "Shoe.size", "x:y-z_", String(repeating: "x", count: Identifier.maximumLength)]
        let own = names.filter { _ in chance(30) }
        return ItemAttributes(own.map { ItemAttributes.Attribute(Identifier($0)!, attribute()) })
    }

    private mutating func attribute() -> AttributeValue {
        switch number(0..<4) {
        case 0: .number(AttributeNumber(pick(["0", "-0.000001", "42.5", "1e12", "-1e12", "123456789.123456"]))!)
        case 1: .text(text())
        case 2: .boolean(chance(50))
        default: .texts(texts())
        }
    }

    mutating func terms() -> Order.Terms {
        Order.Terms(
            placedAt: maybe { $0.time() }, promisedFor: maybe { $0.time() }, releaseAt: maybe { $0.time() },
            acceptBy: maybe { $0.time() }, payBy: maybe { $0.time() }, acceptWithin: maybe { $0.integer() })
    }

    mutating func change() -> Order.Change {
        Order.Change(
            by: pick(Order.Party.allCases),
            texts().map {
                Order.LineChange(line: $0, name: text(), from: integer(), to: integer(), replaces: maybe { $0.text() })
            }, before: text(), after: text(), ordered: lines(), price: Order.Price(amount(), charges()),
            gone: claims())
    }

    mutating func ending() -> Order.Ending {
        Order.Ending(
            by: pick(Order.Party.allCases), pick(Order.Reason.allCases), text: maybe { $0.personalText() },
            price: maybe { Order.Price($0.amount(), $0.charges()) }, claims: claims())
    }

    mutating func claimKey() -> Claim.Key { Claim.Key(pick(Claim.Kind.allCases), text()) }

    mutating func claims() -> [Claim] {
        (0..<Int.random(in: 0...2, using: &self)).map { _ in
            Claim(claimKey(), Int64(integer()), limit: maybe { Int64($0.integer()) })
        }
    }

    mutating func refusal() -> Supply.Refusal { Supply.Refusal(pick([.soldOut, .limit]), text()) }

    mutating func line() -> CartLine {
        CartLine(
            id: text(), item: identifier(), name: text(), quantity: quantity(), unitPrice: amount(),
            options: pick([[], [option()], [option(), option()]]), note: maybe { $0.personalText() })
    }

    mutating func lines() -> [CartLine] { (0..<Int.random(in: 0...3, using: &self)).map { _ in line() } }
}
