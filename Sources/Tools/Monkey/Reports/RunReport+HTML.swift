extension RunReport {
    /// The run as one page: `report.html` with the report in it, which its script draws. Nothing in the report can end
    /// the element that it stands in, or begin another.
    func html() throws -> String {
        let page = String(decoding: PackageResources.report_html, as: UTF8.self)
        return page.replacing("\"REPORT\"", with: try json().replacing("<", with: "\\u003c"), maxReplacements: 1)
    }
}
