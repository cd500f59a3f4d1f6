/// What an outlet tells about itself.
public struct OutletDetails: Equatable, Sendable {
    /// The most cuisines an outlet lists.
    public static let maximumCuisines = 50
    /// The most opening periods an outlet lists.
    public static let maximumHours = 50
    /// The most customers that can have rated an outlet.
    public static let maximumRatingCount = 1_000_000_000
    /// The longest delivery, in minutes: a day.
    public static let maximumDeliveryMinutes = 1_440
    /// The longest that a kitchen takes for an order, in minutes: a day.
    public static let maximumPrepMinutes = 1_440
    /// The longest that an order waits to be accepted or paid, in seconds: a day.
    public static let maximumWait = 86_400
    /// How long an order waits to be paid where the outlet does not say, in seconds.
    public static let usualPayWait = 900
    /// The most days that an order can be placed ahead.
    public static let maximumDaysAhead = 14

    /// When an outlet is paid.
    public enum Payment: String, CaseIterable, Sendable {
        /// Whenever customer and outlet like: no order waits for it.
        case none
        /// Before the kitchen sees an order.
        case first
    }

    /// What opens and closes an outlet.
    public enum Opener: String, CaseIterable, Sendable {
        /// Its merchant.
        case commands
        /// Its hours, unless its merchant keeps it closed.
        case hours
    }

    /// A day on which other hours begin than in every week.
    public struct SpecialDay: Equatable, Sendable {
        /// The day.
        public var day: CalendarDay
        /// The periods that begin on it; none where it is closed.
        public var hours: [OpeningPeriod]

        /// A day with its hours.
        public init(_ day: CalendarDay, _ hours: [OpeningPeriod]) {
            self.day = day
            self.hours = hours
        }
    }

    /// The times that orders can be wanted for, from each opening on.
    public struct Slots: Equatable, Sendable {
        /// What lies between two of them.
        public static let minutes = 5...240

        /// How far apart they are, in minutes.
        public var minutes: Int

        /// Slots so many minutes apart.
        public init(minutes: Int) { self.minutes = minutes }
    }

    /// The outlet's name.
    public var name: Text
    /// The city it stands in.
    public var city: Text?
    /// The part of the city.
    public var area: Text?
    /// Street and number.
    public var address: Text?
    /// The currency of every price of its menu.
    public var currency: Currency
    /// IANA name of the zone its hours are in, such as `Asia/Kolkata`.
    public var timeZone: Text
    /// The cuisines it cooks, most important first.
    public var cuisines: [Text]
    /// What two people usually pay.
    public var priceForTwo: Amount?
    /// Its rating by customers; absent while it has none.
    public var rating: Rating?
    /// How many customers rated it.
    public var ratingCount: Int?
    /// How long a delivery usually takes, in minutes.
    public var deliveryMinutes: Int?
    /// The least total it accepts at checkout.
    public var minimumOrder: Amount?
    /// When it serves.
    public var hours: [OpeningHours]
    /// Days that are not as every week's, in their order.
    public var specialDays: [SpecialDay]
    /// What opens and closes it.
    public var follows: Opener
    /// How long an order usually takes in the kitchen, in minutes: what a customer is promised.
    public var prepMinutes: Int?
    /// How long an order waits to be accepted, in seconds. With 0 every order is accepted as it is placed; absent if
    /// orders do not have to be accepted.
    public var acceptWithin: Int?
    /// When it is paid.
    public var payment: Payment
    /// How long an order waits to be paid, in seconds; absent for ``usualPayWait``.
    public var payWithin: Int?
    /// What it charges beside its items' prices.
    public var pricing: PricingTerms
    /// The minute after midnight at which its business day begins, at a quarter of an hour; absent for midnight.
    public var dayStarts: Int?
    /// The ways to have its orders; none if there is nothing to choose.
    public var services: ByService<OfferedService>
    /// How many days after today orders can be placed for; 0 if they cannot be placed ahead at all.
    public var orderAheadDays: Int
    /// The times that orders can be wanted for; absent for any time at which it is open.
    public var slots: Slots?
    /// The parts of the day in which some of its menu can be had.
    public var dayparts: [Daypart]
    /// Which of them are on, as its hours said last: what has happened, and nothing that it says of itself.
    public var daypartTimes = DaypartTimes.none

    /// Details with everything that is not named left out.
    public init(
        name: Text, city: Text? = nil, area: Text? = nil, address: Text? = nil, currency: Currency,
        timeZone: Text, cuisines: [Text] = [], priceForTwo: Amount? = nil, rating: Rating? = nil,
        ratingCount: Int? = nil, deliveryMinutes: Int? = nil, minimumOrder: Amount? = nil,
        hours: [OpeningHours] = [], specialDays: [SpecialDay] = [], follows: Opener = .commands,
        prepMinutes: Int? = nil, acceptWithin: Int? = nil, payment: Payment = .none,
        payWithin: Int? = nil, dayStarts: Int? = nil, pricing: PricingTerms = .none,
        services: ByService<OfferedService> = ByService(), orderAheadDays: Int = 0, slots: Slots? = nil,
        dayparts: [Daypart] = []
    ) {
        self.name = name
        self.city = city
        self.area = area
        self.address = address
        self.currency = currency
        self.timeZone = timeZone
        self.cuisines = cuisines
        self.priceForTwo = priceForTwo
        self.rating = rating
        self.ratingCount = ratingCount
        self.deliveryMinutes = deliveryMinutes
        self.minimumOrder = minimumOrder
        self.hours = hours
        self.specialDays = specialDays.sorted { $0.day < $1.day }
        self.follows = follows
        self.prepMinutes = prepMinutes
        self.acceptWithin = acceptWithin
        self.payment = payment
        self.payWithin = payWithin
        self.dayStarts = dayStarts
        self.pricing = pricing
        self.services = services
        self.orderAheadDays = orderAheadDays
        self.slots = slots
        self.dayparts = dayparts
    }

    /// Rejects details with a value out of range, naming the field.
    public func validate() throws(Rejection) {
        try TextRules.check(name, "name", TextRules.name)
        try TextRules.check(city, "city", TextRules.line)
        try TextRules.check(area, "area", TextRules.line)
        try TextRules.check(address, "address", TextRules.line)
        try TextRules.check(timeZone, "timeZone", TextRules.line)
        try TextRules.check(cuisines, "cuisines", atMost: OutletDetails.maximumCuisines)
        try Self.check(priceForTwo?.minorUnits, "priceForTwo", 0...Amount.maximum.minorUnits)
        try Self.check(ratingCount, "ratingCount", 0...OutletDetails.maximumRatingCount)
        try Self.check(deliveryMinutes, "deliveryMinutes", 0...OutletDetails.maximumDeliveryMinutes)
        try Self.check(prepMinutes, "prepMinutes", 0...OutletDetails.maximumPrepMinutes)
        try Self.check(acceptWithin, "acceptWithin", 0...OutletDetails.maximumWait)
        try Self.check(payWithin, "payWithin", 1...OutletDetails.maximumWait)
        try Self.check(minimumOrder?.minorUnits, "minimumOrder", 0...Amount.maximum.minorUnits)
        if let dayStarts, !(0..<1_440).contains(dayStarts) || !dayStarts.isMultiple(of: 15) {
            throw .invalid("dayStarts", "must be a quarter of an hour of a day, such as 04:00 or 05:30")
        }
        try Self.check(hours.count, "hours")
        guard specialDays.count <= OutletDetails.maximumHours else {
            throw .invalid("specialDays", "must have at most \(OutletDetails.maximumHours) entries")
        }
        for (one, other) in zip(specialDays, specialDays.dropFirst()) where one.day == other.day {
            throw .invalid("specialDays", "have \(one.day.text) twice")
        }
        for day in specialDays { try Self.check(day.hours.count, "specialDays") }
        if follows == .hours, hours.isEmpty, specialDays.isEmpty {
            throw .invalid("follows", "needs hours that the outlet can follow")
        }
        try pricing.validate()
        try validateServices()
        try validateTimes()
    }

    /// Rejects more periods than an outlet lists.
    static func check(_ count: Int, _ field: @autoclosure () -> String) throws(Rejection) {
        guard count <= OutletDetails.maximumHours else {
            throw .invalid(.field(field()), "must have at most \(OutletDetails.maximumHours) entries")
        }
    }

    static func check<Number: BinaryInteger>(
        _ value: Number?, _ field: @autoclosure () -> String, _ range: ClosedRange<Number>
    ) throws(Rejection) {
        guard let value, !range.contains(value) else { return }
        throw .invalid(.field(field()), "must be from \(range.lowerBound) to \(range.upperBound), is \(value)")
    }
}

extension OutletDetails {
    /// The details of an outlet that takes longer than usual: so much more is promised.
    ///
    /// - Parameter minutes: how much longer.
    public func slowed(by minutes: Int) -> OutletDetails {
        var details = self
        func later(_ prepMinutes: Int?) -> Int? { prepMinutes.map { $0.addingReportingOverflow(minutes).partialValue } }
        details.prepMinutes = later(prepMinutes)
        for (kind, service) in services.list where service.prepMinutes != nil {
            details.services[kind]?.prepMinutes = later(service.prepMinutes)
        }
        return details
    }
}
