extension Command {
    /// Every command that a client may ask for.
    package static let all =
        CatalogueCommands.all + BrowsingCommands.all + ChoiceCommands.all + CartCommands.all + OrderCommands.all
        + LogCommands.all + MaintenanceCommands.all
}
