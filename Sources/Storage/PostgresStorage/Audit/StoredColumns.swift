internal import Projections

/// The columns that an audit reads of the tables of projections, as the migrations made them.
///
/// To read a column as another type than it has traps. The types are looked at once, so that no value has to be.
enum StoredColumns {
    /// Each column by its full name, with its type.
    static let expected = own + ReadModel.projections.flatMap(columns)

    private static let own =
        [
            ("projection_checkpoints.projection", "text"), ("projection_checkpoints.generation", "integer"),
            ("projection_checkpoints.version", "integer"), ("projection_checkpoints.position", "bigint"),
            ("projection_checkpoints.digest", "bytea"), ("quarantine.stream", "text"),
            ("quarantine.position", "bigint"),
            ("quarantine.reason", "text"),
            ("tree_nodes.level", "smallint"), ("tree_nodes.number", "bigint"),
            ("tree_nodes.last_position", "bigint"), ("tree_nodes.digest", "bytea"),
        ].map { ("tiffin.\($0)", "\($1) NOT NULL") } + [
            ("tiffin.projection_checkpoints.chain_digest", "bytea"), ("tiffin.tree_nodes.tree_digest", "bytea"),
        ]

    private static func columns(of projection: RegisteredProjection) -> [(String, String)] {
        projection.columns.map { ("tiffin.\(projection.table).\($0.name)", "\($0.kind.name) NOT NULL") }
    }
}

extension Column.Kind {
    fileprivate var name: String {
        switch self {
        case .text, .json: "text"
        case .int32: "integer"
        case .int64: "bigint"
        }
    }
}
