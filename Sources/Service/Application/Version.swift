/// The version of Tiffin.
package enum Version {
    /// As a tag has it, without its `v`.
    package static let current = "0.1.0"
}
