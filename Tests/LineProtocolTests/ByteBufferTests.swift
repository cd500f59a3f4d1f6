import LineProtocol
import SeededRandom
import Testing

@Suite struct `A byte buffer` {
    @Test(arguments: 1..<UInt64(21)) func `Holds what was appended and not consumed`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var buffer = ByteBuffer(capacity: Int.random(in: 0...32, using: &random))
        var model: [UInt8] = []
        for _ in 0..<500 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1:
                let bytes = random.bytes(0...300)
                buffer.append(bytes)
                model += bytes
            case 2:
                let byte = UInt8.random(in: .min ... .max, using: &random)
                buffer.append(byte)
                model.append(byte)
            case 3:
                let value = Int64.random(in: .min ... .max, using: &random)
                buffer.append(decimal: value)
                model += Array(String(value).utf8)
            case 4:
                let bytes = random.bytes(0...50)
                buffer.fill(atLeast: bytes.count) { room in
                    room.copyBytes(from: bytes)
                    return bytes.count
                }
                model += bytes
            case 5 where Int.random(in: 0..<20, using: &random) == 0:
                buffer.removeAll(keepingCapacity: Bool.random(using: &random))
                model = []
            default:
                let count = Int.random(in: 0...model.count, using: &random)
                buffer.consume(count)
                model.removeFirst(count)
            }
            #expect(Array(buffer.bytes) == model)
            #expect(buffer.count == model.count)
            #expect(buffer.isEmpty == model.isEmpty)
        }
    }

    @Test func `A stream needs only as much memory as waits at once`() {
        var buffer = ByteBuffer()
        let chunk = [UInt8](repeating: 1, count: 1000)
        for _ in 0..<10_000 {
            buffer.append(chunk)
            buffer.append(chunk)
            buffer.consume(chunk.count)
            buffer.consume(chunk.count - 1)
            if buffer.count > 1000 { buffer.consume(buffer.count - 1) }
        }
        #expect(buffer.capacity <= 8192)
    }

    @Test func `Memory is kept or given back as asked`() {
        var buffer = ByteBuffer()
        #expect(buffer.capacity == 0)
        buffer.append([UInt8](repeating: 1, count: 1000))
        buffer.removeAll(keepingCapacity: true)
        #expect(buffer.capacity >= 1000)
        buffer.removeAll(keepingCapacity: false)
        #expect(buffer.capacity == 0)
    }
}
