/// What an outlet tells about itself.
package struct OutletDetails: Equatable, Sendable {
    /// The most cuisines an outlet lists.
    package static let maximumCuisines = 50
    /// The most opening periods an outlet lists.
    package static let maximumHours = 50
    /// The most customers that can have rated an outlet.
    package static let maximumRatingCount = 1_000_000_000
    /// The longest delivery, in minutes: a day.
    package static let maximumDeliveryMinutes = 1_440
    /// The longest that a kitchen takes for an order, in minutes: a day.
    package static let maximumPrepMinutes = 1_440
    /// The longest that an order waits to be accepted or paid, in seconds: a day.
    package static let maximumWait = 86_400
    /// How long an order waits to be paid where the outlet does not say, in seconds.
    package static let usualPayWait = 900

    /// When an outlet is paid.
    package enum Payment: String, CaseIterable, Sendable {
        /// Whenever customer and outlet like: no order waits for it.
        case none
        /// Before the kitchen sees an order.
        case first
    }

    /// The outlet's name.
    package var name: Text
    /// The city it stands in.
    package var city: Text?
    /// The part of the city.
    package var area: Text?
    /// Street and number.
    package var address: Text?
    /// The currency of every price of its menu.
    package var currency: Currency
    /// IANA name of the zone its hours are in, such as `Asia/Kolkata`.
    package var timeZone: Text
    /// The cuisines it cooks, most important first.
    package var cuisines: [Text]
    /// What two people usually pay.
    package var priceForTwo: Amount?
    /// Its rating by customers; absent while it has none.
    package var rating: Rating?
    /// How many customers rated it.
    package var ratingCount: Int?
    /// How long a delivery usually takes, in minutes.
    package var deliveryMinutes: Int?
    /// The least total it accepts at checkout.
    package var minimumOrder: Amount?
    /// When it usually serves: for show, an outlet opens and closes by command.
    package var hours: [OpeningHours]
    /// How long an order usually takes in the kitchen, in minutes: what a customer is promised.
    package var prepMinutes: Int?
    /// How long an order waits to be accepted, in seconds. With 0 every order is accepted as it is placed; absent where
    /// nobody has to accept orders.
    package var acceptWithin: Int?
    /// When it is paid.
    package var payment: Payment
    /// How long an order waits to be paid, in seconds; absent for ``usualPayWait``.
    package var payWithin: Int?
    /// What it charges beside its items' prices.
    package var pricing: PricingTerms

    /// Details with everything that is not named left out.
    package init(
        name: Text, city: Text? = nil, area: Text? = nil, address: Text? = nil, currency: Currency,
        timeZone: Text, cuisines: [Text] = [], priceForTwo: Amount? = nil, rating: Rating? = nil,
        ratingCount: Int? = nil, deliveryMinutes: Int? = nil, minimumOrder: Amount? = nil,
        hours: [OpeningHours] = [], prepMinutes: Int? = nil, acceptWithin: Int? = nil, payment: Payment = .none,
        payWithin: Int? = nil, pricing: PricingTerms = .none
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
        self.prepMinutes = prepMinutes
        self.acceptWithin = acceptWithin
        self.payment = payment
        self.payWithin = payWithin
        self.pricing = pricing
    }

    /// Rejects details with a value out of range, naming the field.
    package func validate() throws(Rejection) {
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
        guard hours.count <= OutletDetails.maximumHours else {
            throw .invalid("hours", "must have at most \(OutletDetails.maximumHours) entries")
        }
        try pricing.validate()
    }

    private static func check<Number: BinaryInteger>(
        _ value: Number?, _ field: String, _ range: ClosedRange<Number>
    ) throws(Rejection) {
        guard let value, !range.contains(value) else { return }
        throw .invalid(field, "must be from \(range.lowerBound) to \(range.upperBound), is \(value)")
    }
}
