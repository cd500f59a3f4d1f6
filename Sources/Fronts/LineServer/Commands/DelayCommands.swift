internal import Application
internal import EventLoop
internal import LineProtocol
internal import Serving
internal import TextFormats
internal import Users

/// What held up the server, with Redis's commands for it.
enum DelayCommands {
    static let all = slowLog + latency

    private static let slowLog: [LineCommand] = [
        LineCommand(
            "SLOWLOG GET", .server, role: .admin,
            "Returns the latest commands that took long to execute; 10 of them, or as many as given, -1 for all."
        ) { parameters in
            let count = parameters.optional("count", .wholeNumber.accepting("at least -1"), default: 10)
            return { session, call throws(Failure) in
                let count = try call[count]
                guard count >= -1 else { throw Failure(.error, "count should be greater than or equal to -1") }
                let entries = session.server.slowLog.entries.suffix(count < 0 ? .max : Int(clamping: count)).reversed()
                session.reply { replies in
                    replies.array(entries.count)
                    for entry in entries { replies.append(entry) }
                }
            }
        },
        LineCommand("SLOWLOG LEN", .server, role: .admin, "Returns how many commands SLOWLOG GET can return.") { _ in
            { session, _ in
                let count = session.server.slowLog.entries.count
                session.reply { $0.integer(Int64(count)) }
            }
        },
        LineCommand("SLOWLOG RESET", .server, role: .admin, "Forgets the commands that took long.") { _ in
            { session, _ in
                session.server.slowLog.removeAll()
                session.reply { $0.simpleString("OK") }
            }
        },
        LineCommand("SLOWLOG HELP", .server, role: .admin, "Describes the commands of SLOWLOG.") { _ in
            { session, _ in
                let lines = LineCommandTable.shared.help(onSubcommandsOf: "SLOWLOG")
                session.reply { replies in
                    replies.array(lines.count)
                    for line in lines { replies.simpleString(line) }
                }
            }
        },
    ]

    private static let latency: [LineCommand] = [
        LineCommand(
            "LATENCY LATEST", .server, role: .admin,
            "Returns what took long: each event with its latest time, its latest milliseconds, and its most."
        ) { _ in
            { session, _ in
                let series = session.server.service.latencies.series.sorted { $0.key.rawValue < $1.key.rawValue }
                session.reply { replies in
                    replies.array(series.count)
                    for (event, series) in series {
                        let latest = series.samples[series.samples.count - 1]
                        replies.array(4)
                        replies.bulk(event.rawValue)
                        replies.integer(latest.time)
                        replies.integer(latest.milliseconds)
                        replies.integer(series.maximum)
                    }
                }
            }
        },
        LineCommand(
            "LATENCY HISTORY", .server, role: .admin, "Returns when an event took long, and how many milliseconds."
        ) { parameters in
            let event = parameters.required("event", .bytes.accepting("the name of an event"))
            return { session, call throws(Failure) in
                let event = try LatencyMonitor.Event(call[event])
                let samples = event.flatMap { session.server.service.latencies.series[$0]?.samples } ?? []
                session.reply { replies in
                    replies.array(samples.count)
                    for sample in samples {
                        replies.array(2)
                        replies.integer(sample.time)
                        replies.integer(sample.milliseconds)
                    }
                }
            }
        },
        LineCommand(
            "LATENCY RESET", .server, role: .admin, "Forgets when these events took long, or any; returns of how many."
        ) { parameters in
            let events = parameters.repeated("event", accepting: "the name of an event", isOptional: true)
            return { session, call throws(Failure) in
                let named = call[events]
                let events = named.isEmpty ? LatencyMonitor.Event.allCases : named.compactMap { .init($0) }
                let count = events.count { session.server.service.latencies.reset($0) }
                session.reply { $0.integer(Int64(count)) }
            }
        },
    ]
}

extension LatencyMonitor.Event {
    fileprivate init?(_ name: Argument) { self.init(rawValue: String(decoding: name.bytes, as: UTF8.self)) }
}

extension ReplyBuffer {
    fileprivate mutating func append(_ entry: SlowLog.Entry) {
        array(6)
        integer(entry.id)
        integer(entry.time)
        integer(entry.microseconds)
        array(entry.words.count)
        for word in entry.words { bulk(word) }
        bulk(entry.address)
        bulk(entry.client)
    }
}
