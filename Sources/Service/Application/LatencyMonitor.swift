package import EventLoop

/// The moments in which something took longer than it should: what `LATENCY` shows.
@LoopActor
package final class LatencyMonitor {
    /// What may take long. The raw value is the name that clients see.
    package enum Event: String, CaseIterable, Sendable {
        /// A command, without what it waited for.
        case command
        /// A turn of the event loop: whatever came meanwhile had to wait.
        case turn = "loop-turn"
        /// From where a batch was sent until the log answered for it.
        case append
        /// The saving of a checkpoint.
        case checkpoint
    }

    /// The longest time of an event within one second.
    package struct Sample: Sendable {
        /// Seconds since 1970.
        package var time: Int64
        /// How long it took.
        package var milliseconds: Int64
    }

    /// The samples of an event.
    package struct Series: Sendable {
        /// The latest last; at least one.
        package fileprivate(set) var samples: [Sample]
        /// The longest of all, in milliseconds.
        package fileprivate(set) var maximum: Int64
    }

    /// The most samples of an event that are kept, as in Redis.
    private static let maximumSamples = 160

    /// What takes as many milliseconds is noted; 0 for nothing.
    package let milliseconds: UInt64
    /// The same in nanoseconds; out of reach for nothing.
    package let threshold: UInt64
    /// What has been noted.
    package private(set) var series: [Event: Series] = [:]
    private let seconds: () -> Int64

    /// - Parameter seconds: the time, in seconds since 1970.
    init(milliseconds: UInt64, seconds: @escaping () -> Int64) {
        self.milliseconds = milliseconds
        threshold = milliseconds == 0 ? .max : milliseconds * 1_000_000
        self.seconds = seconds
    }

    /// An event took so many nanoseconds.
    package func note(_ event: Event, nanoseconds: UInt64) {
        guard nanoseconds >= threshold else { return }
        let sample = Sample(time: seconds(), milliseconds: Int64(nanoseconds / 1_000_000))
        var series = series[event] ?? Series(samples: [], maximum: 0)
        series.maximum = max(series.maximum, sample.milliseconds)
        if let last = series.samples.indices.last, series.samples[last].time == sample.time {
            series.samples[last].milliseconds = max(series.samples[last].milliseconds, sample.milliseconds)
        } else {
            if series.samples.count == LatencyMonitor.maximumSamples { series.samples.removeFirst() }
            series.samples.append(sample)
        }
        self.series[event] = series
    }

    /// Forgets an event. Returns whether there was one.
    package func reset(_ event: Event) -> Bool { series.removeValue(forKey: event) != nil }
}
