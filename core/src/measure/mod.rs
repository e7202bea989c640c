//! Measuring: machine, bandwidth, samples, error measures.
