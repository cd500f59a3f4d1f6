public import EventLoop
@LoopActor public final class EmbeddedPostgres {
  public let connectionString = ""
  public static func start(dataDirectory: String, log: @escaping (String) -> Void) async throws -> EmbeddedPostgres { EmbeddedPostgres() }
  public func stop() async {}
}
