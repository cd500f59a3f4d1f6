/// A query has more than ``TextAnalyser/maximumQueryTerms`` terms.
public struct TooManyTerms: Error, Equatable {}
