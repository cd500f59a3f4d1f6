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
    // code that is not are left out; docs/decisions/0012-two-checks-are-off.md says what they cost.
    .unsafeFlags(["-disable-dynamic-actor-isolation"]),
    // It takes in only what is public: so the lower floors say public (docs/decisions/0078).
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

/// A library target of ours; `uses` lists the only targets that it may import.
func room(
    _ name: String, uses: [Target.Dependency] = [], resources: [Resource] = [], plugins: [Target.PluginUsage] = []
) -> Target {
    .target(name: name, dependencies: uses, resources: resources, swiftSettings: strict, plugins: plugins)
}

/// A C library of Debian and Homebrew. One target of ours imports it; OpenSSL has two more users, for digests.
func library(_ name: String, pkgConfig: String?, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

func program(_ name: String, uses: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .executableTarget(name: name, dependencies: uses, resources: resources, swiftSettings: strict)
}

/// A folder of `Sources` with its targets. A target uses those above it in this file, on its own floor or a lower one.
func floor(_ folder: String, _ rooms: [Target]) -> [Target] {
    for room in rooms { room.path = "Sources/\(folder)/\(room.name)" }
    return rooms
}

// MARK: The floors, from the ground up

/// What other people wrote.
let libraries = floor(
    "Foundations/C",
    [
        library("CLibPQ", pkgConfig: "libpq", apt: "libpq-dev", brew: "libpq"),
        library("CLibUV", pkgConfig: "libuv", apt: "libuv1-dev", brew: "libuv"),
        library("CLibSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
        library("CLibICU", pkgConfig: "icu-uc icu-i18n", apt: "libicu-dev", brew: "icu4c"),
        library("CLibCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
        library("CLibJemalloc", pkgConfig: "jemalloc", apt: "libjemalloc-dev", brew: "jemalloc"),
        library("CLibZ", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),
        library("CLibRoaring", pkgConfig: roaring, apt: "libroaring-dev", brew: "croaring"),
        // ICU in functions that Swift can call.
        .target(name: "ICUBridge", dependencies: ["CLibICU"]),
    ])

/// What knows nothing of restaurants: another server could be built on it.
let foundations = floor(
    "Foundations",
    [
        room("SeededRandom"),
        room("Parallelism"),
        room("Measurement"),
        room("TextFormats"),
        room("CommandLineOptions"),
        room("LineProtocol", uses: ["TextFormats"]),
        room("HTTP", uses: ["CLibCurl", "CLibZ"]),
        room(
            "EventLoop",
            uses: ["CLibSSL", "CLibUV", .target(name: "CLibJemalloc", condition: .when(platforms: [.linux]))]),
        room("Postgres", uses: ["CLibPQ", "EventLoop"]),
        room("Tracing", uses: ["EventLoop", "HTTP", "Parallelism", "TextFormats"]),
    ])

/// What is true, as values and functions: no clock, socket or database.
let model = floor(
    "Model",
    [
        room("Domain"),
        room("EventLog", uses: ["CLibSSL", "Domain", "TextFormats"]),
        room("Users", uses: ["CLibSSL", "Domain", "EventLog"]),
        room("CommandHandling", uses: ["Domain", "EventLog"]),
        room("Projections", uses: ["Domain", "EventLog", "Parallelism", "TextFormats"]),
        room(
            "Catalogue",
            uses: [
                "CLibRoaring", "Domain", "ICUBridge", "Parallelism", "Projections", "SeededRandom", "TextFormats",
            ]),
        room("Audit", uses: ["Domain", "EventLog", "Projections", "TextFormats"]),
        room("Fleet", uses: ["CLibSSL", "EventLog"]),
    ])

/// What is kept in PostgreSQL.
let storage = floor(
    "Storage",
    [
        room(
            "PostgresStorage",
            uses: ["Audit", "Domain", "EventLog", "EventLoop", "Fleet", "Postgres", "Projections", "Users"],
            resources: [
                "0001_event_log", "0002_projections", "0003_catalogue", "0004_generations", "0005_customer_keys",
                "0006_log_decides", "0007_batches", "0008_batch_queries", "0009_users", "0010_chain_points",
                "0011_readings", "0012_partition_count", "0013_relays", "0014_orders", "0015_auditor",
                "0016_order_payments", "0017_order_taxes", "0018_deeds", "0019_derived", "0020_placement",
                "0021_fleet", "0022_carts_only", "0023_takings", "0024_databases", "0025_pictures",
                "0026_supply", "0027_relay_failures", "0028_tree", "0029_signed_heads",
                "0030_relay_deliveries", "0031_relay_places", "0032_orders_by_place",
                "0033_served_since", "0034_archive",
                "functions/append", "functions/customer_key", "functions/digests", "functions/fleet",
                "functions/outcome", "functions/points", "functions/reading", "functions/stream_index",
                "functions/tree",
            ].map { .embedInCode("migrations/\($0).sql") })
    ])

/// What may be asked of Tiffin, and what keeps a server going that answers. Neither knows a socket or a protocol.
let service = floor(
    "Service",
    [
        // Knows no event loop and no database either.
        room(
            "Application",
            uses: [
                "Catalogue", "CommandHandling", "Domain", "EventLog", "Projections", "SeededRandom", "TextFormats",
                "Users",
            ]),
        room(
            "Serving",
            uses: [
                "Application", "Catalogue", "CommandHandling", "Domain", "EventLog", "EventLoop", "Fleet",
                "Measurement", "Projections", "TextFormats", "Tracing", "Users",
            ]),
    ])

/// What clients connect to.
let fronts = floor(
    "Fronts",
    [
        room(
            "LineServer",
            uses: [
                "Application", "Domain", "EventLog", "EventLoop", "Fleet", "LineProtocol", "Measurement", "Serving",
                "TextFormats", "Users",
            ]),
        // Calls between servers of one log.
        room(
            "Peers",
            uses: [
                "Application", "Domain", "EventLog", "EventLoop", "Fleet", "LineProtocol", "Serving", "TextFormats",
                "Users",
            ]),
        // The files of Web/ are compiled in.
        room(
            "WebServer",
            uses: [
                "Application", "Catalogue", "Domain", "EventLog", "EventLoop", "HTTP", "Measurement", "Serving",
                "TextFormats", "Users",
            ],
            plugins: ["EmbedWeb"]),
    ])

/// What is beside a server: its clients, and what judges it.
let tools = floor(
    "Tools",
    [
        room("LineClient", uses: ["CommandLineOptions", "EventLoop", "LineProtocol"]),
        room(
            "Integrations",
            uses: [
                "CommandLineOptions", "Domain", "EventLog", "EventLoop", "HTTP", "LineClient", "LineProtocol",
                "Parallelism", "Postgres", "PostgresStorage", "TextFormats",
            ]),
        // The tools of a language model are commands.
        room("ModelContext", uses: ["Application", "EventLog", "LineProtocol", "TextFormats", "Users"]),
        // Judges a server by what it answered: knows nothing of how the server works.
        room("LoadOracle", uses: ["LineProtocol", "SeededRandom", "TextFormats"]),
        // The load generator: a client that knows nothing but the wire.
        room(
            "Monkey",
            uses: [
                "CommandLineOptions", "EventLoop", "LineClient", "LineProtocol", "LoadOracle", "Measurement",
                "SeededRandom", "TextFormats",
            ],
            resources: [.embedInCode("Reports/report.html")]),
    ])

let programs = floor(
    "Programs",
    [
        program("embed-web"),
        program(
            "tiffin",
            uses: [
                "Application", "Audit", "CommandLineOptions", "Domain", "EventLog", "EventLoop", "Fleet",
                "Integrations", "LineClient", "LineProtocol", "LineServer", "Measurement", "ModelContext", "Peers",
                "Postgres", "PostgresStorage", "Projections", "Serving", "TextFormats", "Tracing", "Users",
                "WebServer",
            ],
            resources: [.embedInCode("Demo/catalogue.json")]),
        program("tiffin-monkey", uses: ["EventLoop", "Monkey"]),
    ])

// MARK: Tests

/// What the fuzz targets may import.
let fuzzed: [Target.Dependency] = [
    "Application", "Domain", "EventLog", "EventLoop", "HTTP", "Integrations", "LineProtocol", "LineServer",
    "LoadOracle", "Peers", "Projections", "SeededRandom", "Serving", "TextFormats", "Users",
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

/// A target that tests share, or a program for them.
func scene(_ name: String, in folder: String? = nil, uses: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: uses, path: "Tests/\(folder ?? name)", swiftSettings: strict)
}

func tool(_ name: String, in folder: String, uses: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: uses, path: "Tests/\(folder)", swiftSettings: strict)
}

let sharedByTests: [Target] = [
    scene("TestSupport", uses: ["EventLoop", "Postgres"]),
    // What every event log promises, for the tests of each.
    scene("EventLogContract", uses: ["Domain", "EventLog", "SeededRandom"]),
    // A server that answers as the domain decides, for the tests of the oracle and of the load generator.
    scene("OracleScene", uses: ["Domain", "EventLog", "LineProtocol", "LoadOracle", "Projections"]),
    // Whole servers on a simulated loop, network and database. The loop stands in for libuv where it is linked.
    .target(name: "SimulatedLoop", dependencies: ["CLibUV"], path: "Tests/SimulatedLoop"),
    // The same for libpq, and the PostgreSQL behind it.
    scene("SimulatedPostgres", uses: ["CLibPQ", "Domain", "EventLog", "SimulatedLoop"]),
    // What is asked of both, and of a real PostgreSQL, to compare the answers.
    scene("LogScript", uses: ["Domain", "EventLog", "EventLoop", "Fleet", "PostgresStorage", "SeededRandom"]),
    tool("tiffin-log-script", in: "LogScriptTool", uses: ["EventLoop", "LogScript"]),
    tool(
        "tiffin-simulate", in: "ServerSimulation",
        uses: [
            "Application", "CommandHandling", "Domain", "EventLog", "EventLoop", "Fleet", "LineProtocol", "LineServer",
            "LoadOracle", "LogScript", "PostgresStorage", "SeededRandom", "Serving", "SimulatedLoop",
            "SimulatedPostgres", "TextFormats", "Users",
        ]),
    // Prices what a test gives it, so that another model can be held against it.
    tool("tiffin-price", in: "PricingTool", uses: ["Domain"]),
]

let unitTests: [Target] = [
    tests(of: "SeededRandom"),
    tests(of: "Measurement", uses: ["SeededRandom"]),
    tests(of: "TextFormats", uses: ["SeededRandom"]),
    tests(of: "CommandLineOptions"),
    tests(of: "LineProtocol", uses: ["SeededRandom", "TextFormats"]),
    tests(of: "HTTP", uses: ["SeededRandom"]),
    tests(of: "EventLoop", uses: ["SeededRandom", "TestSupport"]),
    tests(of: "Tracing", uses: ["EventLoop", "TextFormats"]),
    tests(of: "Postgres", uses: ["EventLoop", "SeededRandom", "TestSupport"]),
    tests(of: "Domain", uses: ["SeededRandom"]),
    tests(of: "EventLog", uses: ["Domain", "EventLogContract", "SeededRandom", "TextFormats"]),
    tests(of: "Users", uses: ["Domain", "EventLog", "SeededRandom"]),
    tests(of: "CommandHandling", uses: ["Domain", "EventLog", "Projections", "SeededRandom"]),
    tests(of: "Projections", uses: ["Domain", "EventLog", "SeededRandom"]),
    tests(of: "Catalogue", uses: ["Domain", "EventLog", "Projections", "SeededRandom", "TextFormats"]),
    tests(of: "Audit", uses: ["Domain", "EventLog", "EventLogContract", "Projections", "SeededRandom"]),
    tests(of: "Fleet", uses: ["EventLog", "SeededRandom"]),
    tests(
        of: "PostgresStorage",
        uses: [
            "Audit", "Domain", "EventLog", "EventLogContract", "EventLoop", "Postgres", "SeededRandom", "TestSupport",
            "Users",
        ]),
    tests(
        of: "Application",
        uses: [
            "Catalogue", "CommandHandling", "Domain", "EventLog", "Projections", "SeededRandom", "TextFormats", "Users",
        ]),
    tests(
        of: "Serving",
        uses: [
            "Application", "Catalogue", "CommandHandling", "Domain", "EventLog", "EventLogContract", "EventLoop",
            "LoadOracle", "Measurement", "Projections", "SeededRandom", "TextFormats", "Users",
        ]),
    tests(
        of: "LineServer",
        uses: ["Application", "Domain", "EventLog", "LineProtocol", "SeededRandom", "Serving", "TextFormats", "Users"]),
    tests(
        of: "Peers",
        uses: [
            "Application", "Domain", "EventLog", "EventLoop", "Fleet", "LineProtocol", "LineServer", "SeededRandom",
            "Serving", "TestSupport", "TextFormats", "Users",
        ]),
    tests(
        of: "WebServer",
        uses: [
            "Application", "Catalogue", "Domain", "EventLoop", "HTTP", "SeededRandom", "Serving", "TextFormats",
            "Users",
        ]),
    tests(
        of: "Integrations",
        uses: [
            "CommandLineOptions", "Domain", "EventLog", "EventLoop", "HTTP", "LineClient", "LineProtocol",
            "SeededRandom",
            "TextFormats",
        ]),
    tests(of: "ModelContext", uses: ["LineProtocol", "TextFormats", "Users"]),
    tests(of: "LoadOracle", uses: ["LineProtocol", "OracleScene", "SeededRandom", "TextFormats"]),
    tests(
        of: "Monkey",
        uses: [
            "CommandLineOptions", "EventLoop", "LineClient", "LineProtocol", "LoadOracle", "Measurement",
            "OracleScene", "SeededRandom", "TextFormats",
        ]),
    fuzzing,
]

let package = Package(
    name: "tiffin",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "tiffin", targets: ["tiffin"]),
        .executable(name: "tiffin-monkey", targets: ["tiffin-monkey"]),
    ],
    targets: libraries + foundations + model + storage + service + fronts + tools + programs
        + [.plugin(name: "EmbedWeb", capability: .buildTool(), dependencies: ["embed-web"])]
        + sharedByTests + unitTests,
    swiftLanguageModes: [.v6]
)
