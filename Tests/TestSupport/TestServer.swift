internal import EventLoop
internal import Glibc

@LoopActor
enum TestServer {
    static func address() async throws -> String {
        String(cString: getenv("TIFFIN_TEST_DATABASE"))
    }
}
