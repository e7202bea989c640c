//! Matrices from generators.
