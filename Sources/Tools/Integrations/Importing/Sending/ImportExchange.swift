internal import LineClient

/// An exchange that sends the rows of a file.
protocol ImportExchange: Exchange {
    /// How many of the rows are done.
    var finishedCount: Int { get }
}
