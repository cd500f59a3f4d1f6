// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // An asynchronous function runs where its caller runs: on the event loop, without a hop to another thread.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
    // Everything here is checked by the compiler in Swift 6 mode. The checks that it adds for closures given to
    // code that is not are left out; ARCHITECTURE.md says what they cost.
    .unsafeFlags(["-disable-dynamic-actor-isolation"]),
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
    // Two uses of one variable at once are a mistake of ours, which the tests find: they run with the checks.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

// Debian's libroaring has no description for pkg-config, and needs none: it lies where the compiler looks.
#if os(macOS)
    let roaring: String? = "roaring"
#else
    let roaring: String? = nil
#endif

/// A library target of ours; `uses` lists the only targets it may import.
func layer(
    _ name: String, uses: [Target.Dependency] = [], resources: [Resource] = [], plugins: [Target.PluginUsage] = []
) -> Target {
    .target(name: name, dependencies: uses, resources: resources, swiftSettings: strict, plugins: plugins)
}

/// What the fuzz targets may import.
let fuzzed: [Target.Dependency] = [
    "Application", "CallArguments", "Domain", "EventLog", "EventLoop", "HTTPProtocol", "Importing", "JSONText",
    "LineProtocol", "LineServer", "LoadOracle", "Projections", "SeededRandom",
]

/// The fuzz targets: tests that run what the corpus has, or, where `TIFFIN_FUZZ` is set, a program that fuzzes them.
let fuzzing: Target =
    Context.environment["TIFFIN_FUZZ"] == nil
    ? .testTarget(
        name: "FuzzTests", dependencies: fuzzed, exclude: ["Corpus", "Fuzzer.swift", "words.dict"],
        swiftSettings: strict)
    : .executableTarget(
        name: "tiffin-fuzz", dependencies: fuzzed, path: "Tests/FuzzTests",
        exclude: ["Corpus", "CorpusTests.swift", "words.dict"], swiftSettings: strict)

func tests(of name: String, uses: [Target.Dependency] = []) -> Target {
    .testTarget(name: "\(name)Tests", dependencies: [.byName(name: name)] + uses, swiftSettings: strict)
}

let package = Package(
    name: "tiffin",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "tiffin", targets: ["tiffin"]),
        .executable(name: "tiffin-monkey", targets: ["tiffin-monkey"]),
    ],
    targets: [
        // C libraries, each imported by exactly one target of ours, except for OpenSSL: digests are below users.
        .systemLibrary(
            name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(
            name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]),
        .systemLibrary(
            name: "CLibCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CLibSSL", pkgConfig: "libssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CLibICU", pkgConfig: "icu-uc icu-i18n", providers: [.apt(["libicu-dev"]), .brew(["icu4c"])]),
        .systemLibrary(
            name: "CLibCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "CLibZ", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "CLibRoaring", pkgConfig: roaring, providers: [.apt(["libroaring-dev"]), .brew(["croaring"])]),

        // Safe text, and lines that nobody waits for: the one of these that writes.
        layer("Printing"),

        // Values and functions: no I/O.
        layer("JSONText"),
        layer("CallArguments"),
        layer("LineProtocol", uses: ["CallArguments"]),
        layer("HTTPProtocol"),
        layer("Compression", uses: ["CLibZ"]),
        // The files of Web/, compiled in.
        layer("WebAssets", uses: ["Compression"], plugins: ["EmbedWeb"]),
        .plugin(name: "EmbedWeb", capability: .buildTool(), dependencies: ["embed-web"]),
        .executableTarget(name: "embed-web", swiftSettings: strict),
        layer("Measurement"),
        layer("SeededRandom"),
        layer("CommandLineOptions"),
        layer("Domain"),
        layer("EventLog", uses: ["Domain", "JSONText", "CLibCrypto"]),
        layer("Users", uses: ["Domain", "EventLog", "CLibCrypto"]),
        layer("Projections", uses: ["Domain", "EventLog", "JSONText"]),
        layer("Audit", uses: ["Domain", "EventLog", "JSONText", "Printing", "Projections"]),
        // ICU in functions that Swift can call.
        .target(name: "ICUBridge", dependencies: ["CLibICU"]),
        layer("TextAnalysis", uses: ["ICUBridge"]),
        layer(
            "Catalogue",
            uses: ["CLibRoaring", "Domain", "JSONText", "Projections", "SeededRandom", "TextAnalysis"]),
        layer("CommandHandling", uses: ["Domain", "EventLog"]),
        // Judges a server by what it answered: knows nothing of how the server works.
        layer("LoadOracle", uses: ["JSONText", "LineProtocol", "SeededRandom"]),
        // What a load was like, and how it compares.
        layer("LoadReports", uses: ["Measurement", "Printing", "SeededRandom"]),

        layer("TLS", uses: ["CLibSSL"]),

        // The edges: sockets, timers, processes, PostgreSQL.
        layer("EventLoop", uses: ["CLibUV", "TLS"]),
        layer("Postgres", uses: ["CLibPQ", "EventLoop"]),
        layer("HTTPFetch", uses: ["CLibCurl", "Compression"]),
        layer("EmbeddedPostgres", uses: ["EventLoop"]),
        layer(
            "PostgresEventLog", uses: ["Domain", "EventLog", "EventLoop", "Postgres"],
            resources: [
                .embedInCode("migrations/0001_event_log.sql"),
                .embedInCode("migrations/0002_projections.sql"),
                .embedInCode("migrations/0003_catalogue.sql"),
                .embedInCode("migrations/0004_generations.sql"),
                .embedInCode("migrations/0005_customer_keys.sql"),
                .embedInCode("migrations/0006_log_decides.sql"),
                .embedInCode("migrations/0007_batches.sql"),
                .embedInCode("migrations/0008_batch_queries.sql"),
                .embedInCode("migrations/0009_users.sql"),
                .embedInCode("migrations/0010_chain_points.sql"),
                .embedInCode("migrations/0011_readings.sql"),
                .embedInCode("migrations/0012_partition_count.sql"),
                .embedInCode("migrations/0013_relays.sql"),
                .embedInCode("migrations/0014_orders.sql"),
                .embedInCode("migrations/0015_auditor.sql"),
                .embedInCode("migrations/0016_order_payments.sql"),
                .embedInCode("migrations/0017_order_taxes.sql"),
                .embedInCode("migrations/0018_deeds.sql"),
                .embedInCode("migrations/0019_derived.sql"),
            ]),
        layer(
            "PostgresAudit",
            uses: [
                "Audit", "Domain", "EventLog", "EventLoop", "Postgres", "PostgresEventLog", "PostgresProjections",
                "Projections",
            ]),
        layer("PostgresProjections", uses: ["EventLog", "EventLoop", "Postgres", "Projections"]),
        layer(
            "PostgresUsers", uses: ["Domain", "EventLog", "EventLoop", "Postgres", "PostgresEventLog", "Users"]),
        // What may be asked of Tiffin, without a socket or a protocol, and a front of it.
        layer(
            "Application",
            uses: [
                "CallArguments", "Catalogue", "CommandHandling", "Domain", "EventLog", "EventLoop", "JSONText",
                "Measurement", "PostgresProjections", "Printing", "Projections", "SeededRandom", "Users",
            ]),
        layer(
            "LineServer",
            uses: [
                "Application", "CallArguments", "Domain", "EventLog", "EventLoop", "LineProtocol", "Measurement",
                "TLS", "Users",
            ]),
        layer(
            "WebServer",
            uses: [
                "Application", "CallArguments", "Catalogue", "Compression", "Domain", "EventLog", "EventLoop",
                "HTTPProtocol", "JSONText", "Measurement", "Users", "WebAssets",
            ]),
        layer("LineClient", uses: ["CommandLineOptions", "EventLoop", "LineProtocol", "TLS"]),
        // The load generator: a client that knows nothing but the wire.
        layer(
            "Monkey",
            uses: [
                "CommandLineOptions", "EventLoop", "JSONText", "LineClient", "LineProtocol", "LoadOracle",
                "LoadReports", "Measurement", "Printing", "SeededRandom",
            ]),
        layer(
            "Importing",
            uses: [
                "CommandLineOptions", "Domain", "EventLoop", "HTTPFetch", "JSONText", "LineClient", "LineProtocol",
                "Printing",
            ]),
        layer(
            "Relay",
            uses: [
                "Domain", "EventLog", "EventLoop", "HTTPFetch", "JSONText", "LineClient", "LineProtocol", "Postgres",
                "PostgresEventLog",
            ]),
        .executableTarget(
            name: "tiffin",
            dependencies: [
                "Application", "Audit", "CommandLineOptions", "Domain", "EmbeddedPostgres", "EventLog", "EventLoop",
                "Importing", "JSONText", "LineClient", "LineProtocol", "LineServer", "PostgresAudit",
                "PostgresEventLog", "PostgresProjections", "PostgresUsers", "Printing", "Projections", "Relay", "TLS",
                "Users", "WebServer",
            ],
            resources: [.embedInCode("Demo/catalogue.json")],
            swiftSettings: strict),
        .executableTarget(name: "tiffin-monkey", dependencies: ["EventLoop", "Monkey"], swiftSettings: strict),

        // What tests share. A plain target, as a test target cannot be depended upon.
        .target(
            name: "TestSupport", dependencies: ["EmbeddedPostgres", "EventLoop", "Postgres"],
            path: "Tests/TestSupport", swiftSettings: strict),
        // What every event log promises, for the tests of each.
        .target(
            name: "EventLogContract", dependencies: ["Domain", "EventLog", "SeededRandom"],
            path: "Tests/EventLogContract",
            swiftSettings: strict),
        tests(of: "JSONText", uses: ["SeededRandom"]),
        tests(of: "CallArguments", uses: ["SeededRandom"]),
        tests(of: "LineProtocol", uses: ["CallArguments", "SeededRandom"]),
        tests(of: "HTTPProtocol", uses: ["SeededRandom"]),
        tests(of: "Compression"),
        tests(of: "WebAssets"),
        tests(
            of: "WebServer",
            uses: [
                "Application", "CallArguments", "Catalogue", "Domain", "EventLoop", "HTTPProtocol", "Users",
                "WebAssets",
            ]),
        tests(of: "Measurement", uses: ["SeededRandom"]),
        tests(of: "SeededRandom"),
        tests(of: "Printing", uses: ["SeededRandom"]),
        tests(of: "CommandLineOptions"),
        tests(of: "Domain", uses: ["SeededRandom"]),
        tests(of: "EventLog", uses: ["Domain", "EventLogContract", "JSONText", "SeededRandom"]),
        tests(
            of: "PostgresEventLog",
            uses: [
                "Domain", "EmbeddedPostgres", "EventLog", "EventLogContract", "EventLoop", "Postgres", "SeededRandom",
                "TestSupport",
            ]),
        tests(of: "Users", uses: ["Domain", "EventLog", "SeededRandom"]),
        tests(
            of: "PostgresUsers",
            uses: ["Domain", "EventLog", "EventLoop", "Postgres", "PostgresEventLog", "TestSupport", "Users"]),
        tests(of: "Projections", uses: ["Domain", "EventLog", "SeededRandom"]),
        tests(of: "TextAnalysis", uses: ["SeededRandom"]),
        tests(
            of: "Catalogue", uses: ["Domain", "EventLog", "JSONText", "Projections", "SeededRandom", "TextAnalysis"]),
        tests(of: "Audit", uses: ["Domain", "EventLog", "EventLogContract", "Projections", "SeededRandom"]),
        tests(of: "CommandHandling", uses: ["Domain", "EventLog", "Projections", "SeededRandom"]),
        tests(of: "TLS", uses: ["SeededRandom", "TestSupport"]),
        tests(of: "EventLoop", uses: ["SeededRandom", "TestSupport", "TLS"]),
        tests(of: "Postgres", uses: ["EventLoop", "SeededRandom", "TestSupport"]),
        tests(of: "EmbeddedPostgres", uses: ["EventLoop", "Postgres", "TestSupport"]),
        tests(
            of: "Application",
            uses: [
                "CallArguments", "Domain", "EventLog", "EventLogContract", "EventLoop", "JSONText", "Printing",
                "Projections", "SeededRandom", "Users",
            ]),
        tests(
            of: "LineServer",
            uses: ["Application", "CallArguments", "Domain", "EventLog", "LineProtocol", "SeededRandom", "Users"]),
        // Whole servers on a simulated loop, network and log. The loop stands in for libuv where it is linked.
        .target(name: "SimulatedLoop", dependencies: ["CLibUV"], path: "Tests/SimulatedLoop"),
        .executableTarget(
            name: "tiffin-simulate",
            dependencies: [
                "Application", "CommandHandling", "Domain", "EventLog", "EventLoop", "JSONText", "LineProtocol",
                "LineServer",
                "LoadOracle", "Printing", "SeededRandom", "SimulatedLoop", "Users",
            ],
            path: "Tests/ServerSimulation", swiftSettings: strict),
        // Prices what a test gives it, so that another model can be held against it.
        .executableTarget(
            name: "tiffin-price", dependencies: ["Domain"], path: "Tests/PricingTool", swiftSettings: strict),
        // A server that answers as the domain decides, for the tests of the oracle and of the load generator.
        .target(
            name: "OracleScene", dependencies: ["Domain", "EventLog", "LineProtocol", "LoadOracle", "Projections"],
            path: "Tests/OracleScene",
            swiftSettings: strict),
        tests(of: "LoadOracle", uses: ["JSONText", "LineProtocol", "OracleScene", "SeededRandom"]),
        tests(of: "LoadReports", uses: ["Measurement", "Printing", "SeededRandom"]),
        tests(
            of: "Monkey",
            uses: [
                "CommandLineOptions", "EventLoop", "LineClient", "LineProtocol", "LoadOracle", "LoadReports",
                "OracleScene",
            ]),
        tests(
            of: "Importing",
            uses: [
                "CallArguments", "CommandLineOptions", "Domain", "EventLoop", "HTTPFetch", "LineClient",
                "LineProtocol", "SeededRandom",
            ]),
        tests(of: "Relay", uses: ["SeededRandom"]),
        fuzzing,
    ],
    swiftLanguageModes: [.v6]
)
