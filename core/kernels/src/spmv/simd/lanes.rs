//! The vector operations that loops need, and vectors that are arrays.

use std::marker::PhantomData;

use sparsescope_matrix::matrix::Real;

/// Vectors of one kind. Lanes are numbered from 0; a set of lanes is a number with one bit per lane.
///
/// # Safety
/// `LANES` is at most [`MOST_LANES`], and a method touches only the memory that it describes.
pub unsafe trait Lanes: Copy {
    /// The type of a lane.
    type Value: Real;
    /// A vector.
    type Vector: Copy;
    /// Lanes of a vector, a power of two.
    const LANES: usize;
    /// The set of all lanes.
    const ALL: u32 = (1 << Self::LANES) - 1;

    /// 0 in every lane.
    ///
    /// # Safety
    /// The CPU supports the instructions; this also holds for all that follow.
    unsafe fn zero() -> Self::Vector;

    /// The value in every lane.
    ///
    /// # Safety
    /// As above.
    unsafe fn splat(value: Self::Value) -> Self::Vector;

    /// `from[0..LANES]`.
    ///
    /// # Safety
    /// The values can be read.
    unsafe fn load(from: *const Self::Value) -> Self::Vector;

    /// `from[0..n]`, 0 in the other lanes.
    ///
    /// # Safety
    /// n is at most `LANES` and those n can be read.
    unsafe fn load_first(from: *const Self::Value, n: usize) -> Self::Vector;

    /// Writes all lanes to `to`.
    ///
    /// # Safety
    /// `LANES` values can be written there.
    unsafe fn store(to: *mut Self::Value, v: Self::Vector);

    /// Writes the first n lanes to `to`.
    ///
    /// # Safety
    /// n is at most `LANES` and n values can be written there.
    unsafe fn store_first(to: *mut Self::Value, v: Self::Vector, n: usize);

    /// Gathers `x[col[k]]` in lane k.
    ///
    /// # Safety
    /// `LANES` columns can be read, are below 2³¹ unless vectors are arrays, and x has elements there.
    unsafe fn gather(x: *const Self::Value, col: *const u32) -> Self::Vector;

    /// The same for the first n lanes; 0 in the others.
    ///
    /// # Safety
    /// As above for n columns, with n from 1 to `LANES`, and x has a first element.
    unsafe fn gather_first(x: *const Self::Value, col: *const u32, n: usize) -> Self::Vector;

    /// a·b.
    ///
    /// # Safety
    /// As [`zero`](Self::zero).
    unsafe fn mul(a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// a + b.
    ///
    /// # Safety
    /// As [`zero`](Self::zero).
    unsafe fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// a·b + c, rounded once if the instructions do so.
    ///
    /// # Safety
    /// As [`zero`](Self::zero).
    unsafe fn mul_add(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;

    /// a·b + c, where `ab` is (a, b), in the lanes whose `lengths[k]` is above `j`; c in the others, whatever
    /// a and b are there.
    ///
    /// # Safety
    /// `LANES` lengths can be read, and they and `j` are below 2³¹.
    unsafe fn mul_add_above(
        ab: (Self::Vector, Self::Vector),
        c: Self::Vector,
        lengths: *const u32,
        j: u32,
    ) -> Self::Vector;

    /// The sum of all lanes.
    ///
    /// # Safety
    /// As [`zero`](Self::zero).
    unsafe fn sum(v: Self::Vector) -> Self::Value;

    /// Segmented sums: in each lane the sum from the lane after the last previous one in `ends`, or from lane
    /// 0, up to itself. The values of other lanes do not matter, even if infinite.
    ///
    /// # Safety
    /// As [`zero`](Self::zero); `ends` is a set of lanes.
    #[inline(always)]
    unsafe fn segments(v: Self::Vector, ends: u32) -> Self::Vector {
        // SAFETY: guaranteed by the caller.
        let mut lane = unsafe { Self::to_array(v) };
        for k in 1..Self::LANES {
            if ends >> (k - 1) & 1 == 0 {
                let before = lane[k - 1];
                lane[k] += before;
            }
        }
        // SAFETY: as above, and the array has at least `LANES` values.
        unsafe { Self::load(lane.as_ptr()) }
    }

    /// v + w in the lanes of a set; v in the others, whatever w is there.
    ///
    /// # Safety
    /// As [`zero`](Self::zero); `lanes` is a set of lanes.
    #[inline(always)]
    unsafe fn add_in(v: Self::Vector, w: Self::Vector, lanes: u32) -> Self::Vector {
        // SAFETY: guaranteed by the caller.
        let (mut sum, w) = unsafe { (Self::to_array(v), Self::to_array(w)) };
        for k in 0..Self::LANES {
            if lanes >> k & 1 == 1 {
                sum[k] += w[k];
            }
        }
        // SAFETY: as above, and the array has at least `LANES` values.
        unsafe { Self::load(sum.as_ptr()) }
    }

    /// The last lane, broadcast to all lanes.
    ///
    /// # Safety
    /// As [`zero`](Self::zero).
    #[inline(always)]
    unsafe fn last(v: Self::Vector) -> Self::Vector {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::splat(Self::to_array(v)[Self::LANES - 1]) }
    }

    /// The lanes of a set moved to the first lanes, in order; the others are unspecified.
    ///
    /// # Safety
    /// As [`zero`](Self::zero); `lanes` is a set of lanes.
    #[inline(always)]
    unsafe fn compress(v: Self::Vector, lanes: u32) -> Self::Vector {
        // SAFETY: guaranteed by the caller.
        let mut lane = unsafe { Self::to_array(v) };
        let mut next = 0;
        for k in 0..Self::LANES {
            lane[next] = lane[k];
            next += (lanes >> k & 1) as usize;
        }
        // SAFETY: as above, and the array has at least `LANES` values.
        unsafe { Self::load(lane.as_ptr()) }
    }

    /// The first lanes spread over the lanes of a set, in order; 0 in the others.
    ///
    /// # Safety
    /// As [`zero`](Self::zero); `lanes` is a set of lanes.
    #[inline(always)]
    unsafe fn expand(v: Self::Vector, lanes: u32) -> Self::Vector {
        use sparsescope_matrix::matrix::Scalar;
        // SAFETY: guaranteed by the caller.
        let lane = unsafe { Self::to_array(v) };
        let mut spread = [Self::Value::ZERO; MOST_LANES];
        let mut next = 0;
        for (k, to) in spread.iter_mut().enumerate().take(Self::LANES) {
            if lanes >> k & 1 == 1 {
                *to = lane[next];
                next += 1;
            }
        }
        // SAFETY: as above, and the array has at least `LANES` values.
        unsafe { Self::load(spread.as_ptr()) }
    }

    /// The lanes as an array, 0 beyond them.
    ///
    /// # Safety
    /// As [`zero`](Self::zero).
    #[inline(always)]
    unsafe fn to_array(v: Self::Vector) -> [Self::Value; MOST_LANES] {
        use sparsescope_matrix::matrix::Scalar;
        let mut array = [Self::Value::ZERO; MOST_LANES];
        // SAFETY: the array has at least `LANES` values.
        unsafe { Self::store(array.as_mut_ptr(), v) };
        array
    }
}

/// Maximum number of lanes of any vector.
pub(crate) const MOST_LANES: usize = 16;

/// Lanes of an array vector.
const LANES: usize = 4;

/// Vectors that are arrays of values of type `T`.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<T>(PhantomData<T>);

// SAFETY: four lanes; only the memory that callers guarantee is touched.
unsafe impl<T: Real> Lanes for Arrays<T> {
    type Value = T;
    type Vector = [T; LANES];
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn zero() -> [T; LANES] {
        [T::ZERO; LANES]
    }

    #[inline(always)]
    unsafe fn splat(value: T) -> [T; LANES] {
        [value; LANES]
    }

    #[inline(always)]
    unsafe fn load(from: *const T) -> [T; LANES] {
        // SAFETY: guaranteed by the caller.
        unsafe { from.cast::<[T; LANES]>().read() }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const T, n: usize) -> [T; LANES] {
        let mut v = [T::ZERO; LANES];
        for (k, v) in v.iter_mut().enumerate().take(n) {
            // SAFETY: guaranteed by the caller.
            *v = unsafe { *from.add(k) };
        }
        v
    }

    #[inline(always)]
    unsafe fn store(to: *mut T, v: [T; LANES]) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<[T; LANES]>().write(v) };
    }

    #[inline(always)]
    unsafe fn store_first(to: *mut T, v: [T; LANES], n: usize) {
        for (k, &v) in v.iter().enumerate().take(n) {
            // SAFETY: guaranteed by the caller.
            unsafe { to.add(k).write(v) };
        }
    }

    #[inline(always)]
    unsafe fn gather(x: *const T, col: *const u32) -> [T; LANES] {
        // SAFETY: guaranteed by the caller.
        std::array::from_fn(|k| unsafe { *x.add(*col.add(k) as usize) })
    }

    #[inline(always)]
    unsafe fn gather_first(x: *const T, col: *const u32, n: usize) -> [T; LANES] {
        let mut v = [T::ZERO; LANES];
        for (k, v) in v.iter_mut().enumerate().take(n) {
            // SAFETY: guaranteed by the caller.
            *v = unsafe { *x.add(*col.add(k) as usize) };
        }
        v
    }

    #[inline(always)]
    unsafe fn mul(a: [T; LANES], b: [T; LANES]) -> [T; LANES] {
        std::array::from_fn(|k| a[k] * b[k])
    }

    #[inline(always)]
    unsafe fn add(a: [T; LANES], b: [T; LANES]) -> [T; LANES] {
        std::array::from_fn(|k| a[k] + b[k])
    }

    #[inline(always)]
    unsafe fn mul_add(a: [T; LANES], b: [T; LANES], c: [T; LANES]) -> [T; LANES] {
        std::array::from_fn(|k| a[k] * b[k] + c[k])
    }

    #[inline(always)]
    unsafe fn mul_add_above(
        (a, b): ([T; LANES], [T; LANES]),
        c: [T; LANES],
        lengths: *const u32,
        j: u32,
    ) -> [T; LANES] {
        std::array::from_fn(|k| {
            // SAFETY: guaranteed by the caller.
            let length = unsafe { *lengths.add(k) };
            if length > j { a[k] * b[k] + c[k] } else { c[k] }
        })
    }

    #[inline(always)]
    unsafe fn sum(v: [T; LANES]) -> T {
        (v[0] + v[1]) + (v[2] + v[3])
    }
}
