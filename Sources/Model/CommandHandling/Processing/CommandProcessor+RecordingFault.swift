#if DEBUG
    internal import Domain
    internal import EventLog

    extension CommandProcessor {
        /// What a processor can be made to do wrong with a command that it has accepted.
        public enum RecordingFault {
            /// Nothing of it is recorded.
            case drop
            /// Its events are recorded twice.
            case double
        }

        /// The events that are recorded in place of those decided, and the reply that would have been right.
        static func recording(
            _ events: [DomainEvent], _ fault: RecordingFault, on entry: StreamEntry
        ) -> (events: [DomainEvent], reply: CommandReply)? {
            var state = entry.pending
            do throws(ImpossibleEvent) {
                for event in events { try state.evolve(event) }
                let reply = state.reply(version: entry.pendingVersion + Int64(events.count))
                switch fault {
                case .drop: return ([], reply)
                case .double:
                    for event in events { try state.evolve(event) }
                    return (events + events, reply)
                }
            } catch {
                return nil
            }
        }
    }
#endif
