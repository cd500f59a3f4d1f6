extension Command {
    /// Every command that a client may ask for.
    package static let all =
        CatalogueCommands.all + BrowsingCommands.all + ChoiceCommands.all + CartCommands.all + OrderCommands.all
        + SupplyCommands.all + PromotionCommands.all + LogCommands.all + MaintenanceCommands.all
        + UserCommands.all

    /// What admins ask of the front of the line protocol from another one.
    package static let ofFronts = FrontCommands.all

    /// What servers ask of one another by themselves.
    package static let ofServers = [hold, takeBack]

    /// Has an outlet's supply answer an order; see ``ClaimReply``.
    package static let hold = SupplyCommands.hold
    /// Has an outlet's supply take back what an order claimed.
    package static let takeBack = SupplyCommands.takeBack
}
