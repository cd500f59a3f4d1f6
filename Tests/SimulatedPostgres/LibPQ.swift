// A stand-in for libpq: the functions of libpq that Tiffin calls, on sessions of a simulated PostgreSQL.
//
// A program that links this uses it in place of the library, because the linker takes a program's own functions first.
// So everything above libpq runs unchanged, and a seed decides what the database answers, and when. What libpq makes of
// a database's address (`PQconninfoParse`) is still the library's own.
//
// Connections and results go through C as pointers. Their owners give them back: `PQfinish` and `PQclear`.

import CLibPQ

private func session(_ pointer: OpaquePointer) -> Session {
    Unmanaged<Session>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
}

private func result(_ pointer: OpaquePointer) -> QueryResult {
    Unmanaged<QueryResult>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
}

private func given(_ object: some AnyObject) -> OpaquePointer {
    OpaquePointer(Unmanaged.passRetained(object).toOpaque())
}

// MARK: Connections

@_cdecl("PQconnectStartParams")
func connectStartParams(
    _ names: UnsafePointer<UnsafePointer<CChar>?>, _ values: UnsafePointer<UnsafePointer<CChar>?>, _ expandName: Int32
) -> OpaquePointer? {
    var settings: [String: String] = [:]
    var index = 0
    while let name = names[index], let value = values[index] {
        settings[String(cString: name)] = String(cString: value)
        index += 1
    }
    return given(Session(settings))
}

@_cdecl("PQconnectPoll")
func connectPoll(_ connection: OpaquePointer) -> UInt32 {
    switch session(connection).state {
    case .connecting: PGRES_POLLING_READING.rawValue
    case .open: PGRES_POLLING_OK.rawValue
    case .refused, .lost: PGRES_POLLING_FAILED.rawValue
    }
}

@_cdecl("PQstatus")
func status(_ connection: OpaquePointer) -> UInt32 {
    switch session(connection).state {
    case .connecting: CONNECTION_STARTED.rawValue
    case .open: CONNECTION_OK.rawValue
    case .refused, .lost: CONNECTION_BAD.rawValue
    }
}

@_cdecl("PQfinish")
func finish(_ connection: OpaquePointer) {
    session(connection).close()
    Unmanaged<Session>.fromOpaque(UnsafeRawPointer(connection)).release()
}

@_cdecl("PQsocket")
func socket(_ connection: OpaquePointer) -> Int32 { session(connection).number }

@_cdecl("PQerrorMessage")
func errorMessage(_ connection: OpaquePointer) -> UnsafePointer<CChar> { session(connection).message.pointer }

@_cdecl("PQparameterStatus")
func parameterStatus(_ connection: OpaquePointer, _ name: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
    String(cString: name) == "server_version" ? session(connection).version.pointer : nil
}

@_cdecl("PQuser")
func user(_ connection: OpaquePointer) -> UnsafePointer<CChar>? { session(connection).user.pointer }

@_cdecl("PQsetnonblocking")
func setNonblocking(_ connection: OpaquePointer, _ isNonblocking: Int32) -> Int32 { 0 }

@_cdecl("PQsetErrorVerbosity")
func setErrorVerbosity(_ connection: OpaquePointer, _ verbosity: UInt32) -> UInt32 { verbosity }

@_cdecl("PQsetNoticeReceiver")
func setNoticeReceiver(
    _ connection: OpaquePointer, _ receiver: UnsafeRawPointer?, _ context: UnsafeMutableRawPointer?
) -> UnsafeRawPointer? { nil }

// MARK: Sending

@_cdecl("PQenterPipelineMode")
func enterPipelineMode(_ connection: OpaquePointer) -> Int32 { 1 }

/// Scripts and copies, which begin by this, are not simulated.
@_cdecl("PQexitPipelineMode")
func exitPipelineMode(_ connection: OpaquePointer) -> Int32 { fatalError("scripts and copies are not simulated") }

@_cdecl("PQsendPrepare")
func sendPrepare(
    _ connection: OpaquePointer, _ name: UnsafePointer<CChar>, _ sql: UnsafePointer<CChar>, _ count: Int32,
    _ types: UnsafePointer<UInt32>?
) -> Int32 {
    session(connection).gather(.prepare(name: String(cString: name)))
}

@_cdecl("PQsendQueryPrepared")
func sendQueryPrepared(
    _ connection: OpaquePointer, _ name: UnsafePointer<CChar>, _ count: Int32,
    _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?, _ formats: UnsafePointer<Int32>?,
    _ resultFormat: Int32
) -> Int32 {
    let parameters = (0..<Int(count)).map { index -> [UInt8]? in
        values?[index].map { Array(UnsafeRawBufferPointer(start: $0, count: Int(lengths![index]))) }
    }
    return session(connection).gather(.execute(name: String(cString: name), Parameters(parameters)))
}

@_cdecl("PQpipelineSync")
func pipelineSync(_ connection: OpaquePointer) -> Int32 { session(connection).send() }

@_cdecl("PQflush")
func flush(_ connection: OpaquePointer) -> Int32 { 0 }

// MARK: Receiving

@_cdecl("PQconsumeInput")
func consumeInput(_ connection: OpaquePointer) -> Int32 { session(connection).consume() ? 1 : 0 }

@_cdecl("PQisBusy")
func isBusy(_ connection: OpaquePointer) -> Int32 { session(connection).isBusy ? 1 : 0 }

@_cdecl("PQgetResult")
func getResult(_ connection: OpaquePointer) -> OpaquePointer? { session(connection).take().map { given($0) } }

// MARK: Results

@_cdecl("PQclear")
func clear(_ pointer: OpaquePointer?) {
    if let pointer { Unmanaged<QueryResult>.fromOpaque(UnsafeRawPointer(pointer)).release() }
}

@_cdecl("PQresultStatus")
func resultStatus(_ pointer: OpaquePointer) -> UInt32 {
    switch result(pointer).kind {
    case .done: PGRES_COMMAND_OK.rawValue
    case .rows: PGRES_TUPLES_OK.rawValue
    case .failure: PGRES_FATAL_ERROR.rawValue
    case .skipped: PGRES_PIPELINE_ABORTED.rawValue
    case .sync: PGRES_PIPELINE_SYNC.rawValue
    }
}

@_cdecl("PQresultErrorMessage")
func resultErrorMessage(_ pointer: OpaquePointer) -> UnsafePointer<CChar> { result(pointer).message.pointer }

@_cdecl("PQresultErrorField")
func resultErrorField(_ pointer: OpaquePointer, _ field: Int32) -> UnsafePointer<CChar>? {
    result(pointer).fields[UInt8(truncatingIfNeeded: field)]?.pointer
}

@_cdecl("PQntuples")
func rowCount(_ pointer: OpaquePointer) -> Int32 { Int32(result(pointer).rowCount) }

@_cdecl("PQnfields")
func columnCount(_ pointer: OpaquePointer) -> Int32 { Int32(result(pointer).columns.count) }

@_cdecl("PQfnumber")
func columnNumber(_ pointer: OpaquePointer, _ name: UnsafePointer<CChar>) -> Int32 {
    Int32(result(pointer).columns.firstIndex(of: String(cString: name)) ?? -1)
}

@_cdecl("PQgetisnull")
func isNull(_ pointer: OpaquePointer, _ row: Int32, _ column: Int32) -> Int32 {
    result(pointer).value(Int(row), Int(column)) == nil ? 1 : 0
}

@_cdecl("PQgetlength")
func length(_ pointer: OpaquePointer, _ row: Int32, _ column: Int32) -> Int32 {
    Int32(result(pointer).value(Int(row), Int(column))?.count ?? 0)
}

@_cdecl("PQgetvalue")
func value(_ pointer: OpaquePointer, _ row: Int32, _ column: Int32) -> UnsafeRawPointer? {
    result(pointer).value(Int(row), Int(column))?.baseAddress
}

/// Transactions of several statements, which ask for this, are not simulated.
@_cdecl("PQcmdStatus")
func commandStatus(_ pointer: OpaquePointer) -> UnsafePointer<CChar> { fatalError("transactions are not simulated") }
