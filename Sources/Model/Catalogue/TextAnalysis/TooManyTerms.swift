/// A query has more than ``TextAnalyser/maximumQueryTerms`` terms.
package struct TooManyTerms: Error, Equatable {}
