internal import CLibICU

/// Turns text into the terms it is found by.
public final class TextAnalyser {
    /// An analyser.
    public init() {}
}
