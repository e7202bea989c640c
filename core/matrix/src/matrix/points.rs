//! Points in D dimensions, stored one after the other.

use super::{FormatError, Sha256Hex};

/// N points of D ≥ 1 coordinates, none of them NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    dimensions: usize,
    coordinates: Vec<f64>,
}

/// Borrowed [`Points`]: what kernels are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointsView<'a> {
    dimensions: usize,
    coordinates: &'a [f64],
}

/// The size of a point set that has not been read or generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointsExtent {
    /// Number of coordinates of a point, D.
    pub dimensions: u64,
    /// Number of points, N.
    pub points: u64,
    /// Whether `points` is only an estimate.
    pub estimated: bool,
}

impl Points {
    /// Takes N × D coordinates, point by point. Fails when D is 0, when the last point is
    /// incomplete, or when a coordinate is NaN, and names the first such coordinate.
    pub fn new(dimensions: usize, coordinates: Vec<f64>) -> Result<Self, FormatError> {
        let count = coordinates.len();
        match count.checked_rem(dimensions) {
            None => {
                Err(FormatError::Invariant("expected at least 1 dimension, found 0".to_owned()))
            }
            Some(0) => match coordinates.iter().position(|value| value.is_nan()) {
                None => Ok(Self { dimensions, coordinates }),
                Some(at) => Err(FormatError::NotANumber {
                    point: at as u64 / dimensions as u64,
                    coordinate: at as u64 % dimensions as u64,
                }),
            },
            Some(_) => Err(FormatError::Invariant(format!(
                "expected a multiple of {dimensions} coordinates, one per dimension, found {count}"
            ))),
        }
    }

    /// Borrows the points.
    #[inline]
    pub fn view(&self) -> PointsView<'_> {
        PointsView { dimensions: self.dimensions, coordinates: &self.coordinates }
    }

    /// Number of coordinates of a point, D.
    #[inline]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Number of points, N.
    #[inline]
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether there is no point.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// The N × D coordinates, point by point.
    #[inline]
    pub fn coordinates(&self) -> &[f64] {
        &self.coordinates
    }

    /// Bytes that the coordinates occupy.
    pub fn bytes(&self) -> u64 {
        self.coordinates.len() as u64 * size_of::<f64>() as u64
    }

    /// Returns the points with the coordinates of some dimensions negated, so that the largest become the
    /// smallest: those for which `negates`, with a value per dimension or one for all, is true.
    pub fn negated(&self, negates: &[bool]) -> Self {
        let values = self.coordinates.iter().zip(negates.iter().cycle());
        let coordinates = values.map(|(value, negate)| if *negate { -value } else { *value });
        Self { dimensions: self.dimensions, coordinates: coordinates.collect() }
    }

    /// The points with these of their dimensions, from 0, in the given order. Panics on one that is not below
    /// D.
    pub fn of_dimensions(&self, dimensions: &[usize]) -> Self {
        let mut coordinates = Vec::with_capacity(self.len() * dimensions.len());
        for point in self.coordinates.chunks_exact(self.dimensions) {
            coordinates.extend(dimensions.iter().map(|&k| point[k]));
        }
        Self { dimensions: dimensions.len(), coordinates }
    }

    /// The points with these indices, in the given order. Panics on an index that is not below N.
    pub fn picked(&self, indices: &[u32]) -> Self {
        let points = indices.iter().flat_map(|&i| self.view().point(i as usize));
        Self { dimensions: self.dimensions, coordinates: points.copied().collect() }
    }

    /// The identity of [`PointsView::identity`].
    pub fn identity(&self) -> String {
        self.view().identity()
    }
}

/// Coordinates gathered before they are hashed.
const BLOCK: usize = 1 << 13;

impl<'a> PointsView<'a> {
    /// Number of coordinates of a point, D.
    #[inline]
    pub fn dimensions(self) -> usize {
        self.dimensions
    }

    /// Number of points, N.
    #[inline]
    pub fn len(self) -> usize {
        self.coordinates.len() / self.dimensions
    }

    /// Whether there is no point.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.coordinates.is_empty()
    }

    /// The N × D coordinates, point by point.
    #[inline]
    pub fn coordinates(self) -> &'a [f64] {
        self.coordinates
    }

    /// The coordinates of one point. Panics when `i` is not below N.
    #[inline]
    pub fn point(self, i: usize) -> &'a [f64] {
        &self.coordinates[i * self.dimensions..][..self.dimensions]
    }

    /// Returns the SHA-256, in lower-case hexadecimal, of these little-endian numbers: D and N as
    /// `u64`, then the coordinates as `f64` bits, with the sign of zeros. It is the same on every
    /// platform.
    pub fn identity(self) -> String {
        let mut hash = Sha256Hex::default();
        for size in [self.dimensions, self.len()] {
            hash.update(&(size as u64).to_le_bytes());
        }
        // Hash long blocks.
        let mut block = Vec::with_capacity(8 * BLOCK);
        for coordinates in self.coordinates.chunks(BLOCK) {
            block.clear();
            coordinates.iter().for_each(|value| block.extend(value.to_le_bytes()));
            hash.update(&block);
        }
        hash.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::sha256;

    fn points(dimensions: usize, coordinates: &[f64]) -> Points {
        Points::new(dimensions, coordinates.to_vec()).unwrap()
    }

    #[test]
    fn the_first_coordinate_that_is_no_number_is_named() {
        let wrong =
            |d, coordinates: &[f64]| Points::new(d, coordinates.to_vec()).unwrap_err().to_string();
        assert_eq!(
            wrong(3, &[0.0, 1.0, 2.0, 3.0, f64::NAN, f64::NAN]),
            "coordinate 1 of point 1 is NaN (0-based)"
        );
        assert_eq!(wrong(0, &[]), "expected at least 1 dimension, found 0");
        assert_eq!(
            wrong(2, &[1.0; 5]),
            "expected a multiple of 2 coordinates, one per dimension, found 5"
        );
        let extremes = points(2, &[f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!((extremes.len(), extremes.bytes()), (1, 16));
    }

    #[test]
    fn points_are_picked_in_the_order_of_the_indices_and_negated_one_by_one() {
        let points = points(2, &[1.0, 2.0, -0.0, 4.0, 5.0, f64::INFINITY]);
        assert_eq!(points.picked(&[2, 0]).coordinates(), [5.0, f64::INFINITY, 1.0, 2.0]);
        assert!(points.picked(&[]).is_empty());
        assert_eq!(points.view().point(1), [0.0, 4.0]);
        let negated = points.negated(&[true, true]);
        assert_eq!(negated.coordinates(), [-1.0, -2.0, 0.0, -4.0, -5.0, f64::NEG_INFINITY]);
        assert!(negated.coordinates()[2].is_sign_positive());
        assert_eq!(negated.negated(&[true, true]).identity(), points.identity());
    }

    #[test]
    fn the_identity_is_the_digest_that_python_computes() {
        // hashlib.sha256(struct.pack('<2Q4d', 2, 2, 1.5, -0.0, float('inf'), -2.25)).hexdigest()
        assert_eq!(
            points(2, &[1.5, -0.0, f64::INFINITY, -2.25]).identity(),
            "618cdf96710b3f875dfa58f292b3eb3922411427b48ae29c52b3c8226e7eec64"
        );
        let other = |d, coordinates: &[f64]| points(d, coordinates).identity();
        assert_ne!(other(1, &[1.0, 2.0]), other(2, &[1.0, 2.0]));
        assert_ne!(other(1, &[0.0]), other(1, &[-0.0]));
        assert_ne!(other(1, &[]), other(2, &[]));
    }

    #[test]
    fn points_longer_than_a_block_hash_like_their_bytes_in_one_piece() {
        let coordinates: Vec<f64> = (0..3 * BLOCK + 6).map(|k| k as f64 - 0.5).collect();
        let mut bytes = Vec::new();
        for size in [3, coordinates.len() as u64 / 3] {
            bytes.extend(size.to_le_bytes());
        }
        coordinates.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        assert_eq!(points(3, &coordinates).identity(), sha256(&bytes));
    }
}
