//! The memory that the measuring process shares with that of a library: A, x, y between guards, and a copy of
//! the last y. x and y may each be several vectors.

use std::fs::File;
use std::io;

use memmap2::MmapRaw;

use super::gpu::LibraryGpu;

/// Alignment of each array.
const ALIGN: usize = 64;
/// Bytes before and after y that a library must not write.
const GUARD: usize = 4096;
const GUARD_BYTE: u8 = 0xa5;

/// Where the arrays of a matrix and its vectors lie, in bytes from the begin of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) nonzeros: usize,
    /// Vectors in x and in y.
    pub(super) vectors: [usize; 2],
    row_ptr: usize,
    col: usize,
    val: usize,
    x: usize,
    y: usize,
    result: usize,
    pub(super) bytes: usize,
}

impl Places {
    /// `None` if the sum of the sizes does not fit into a number.
    pub(super) fn of([rows, cols, nonzeros]: [usize; 3], vectors: [usize; 2]) -> Option<Self> {
        let after = |at: usize, count: usize, size: usize, guard: usize| -> Option<usize> {
            let end = at.checked_add(count.checked_mul(size)?)?;
            end.checked_add(guard)?.checked_next_multiple_of(ALIGN)
        };
        let row_ptr = 0;
        let col = after(row_ptr, rows.checked_add(1)?, 8, 0)?;
        let val = after(col, nonzeros, 4, 0)?;
        let x = after(val, nonzeros, 8, 0)?;
        let [of_x, of_y] = vectors;
        let (of_x, of_y) = (cols.checked_mul(of_x)?, rows.checked_mul(of_y)?);
        let y = after(x, of_x, 8, GUARD)?;
        let result = after(y, of_y, 8, GUARD)?;
        let bytes = after(result, of_y, 8, 0)?;
        Some(Self { rows, cols, nonzeros, vectors, row_ptr, col, val, x, y, result, bytes })
    }

    /// Elements of x and of y.
    fn elements(&self) -> [usize; 2] {
        let Self { rows, cols, vectors: [of_x, of_y], .. } = self;
        [cols * of_x, rows * of_y]
    }
}

/// Row offsets, columns, values, x and y.
pub(super) type Pointers = (*const u64, *const u32, *const f64, *const f64, *mut f64);

/// The shared memory. Only one of the two processes accesses it at a time, unless the library breaks the rules:
/// elements are therefore copied, never borrowed.
pub(super) struct Area {
    map: MmapRaw,
    places: Places,
}

impl Area {
    /// Maps the memory of these arrays from a file, which must be large enough.
    pub(super) fn of(file: &File, places: Places) -> io::Result<Self> {
        let map = MmapRaw::map_raw(file)?;
        if map.len() < places.bytes {
            return Err(io::Error::other("the shared file is too short"));
        }
        Ok(Self { map, places })
    }

    /// Sizes and places.
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// Writes A in CSR. The iterators yield as many elements as the places hold, or more.
    pub(super) fn set_matrix(
        &self,
        row_ptr: impl Iterator<Item = u64>,
        col: impl Iterator<Item = u32>,
        val: impl Iterator<Item = f64>,
    ) {
        let Places { rows, nonzeros, .. } = self.places;
        self.write(self.places.row_ptr, rows + 1, row_ptr);
        self.write(self.places.col, nonzeros, col);
        self.write(self.places.val, nonzeros, val);
    }

    /// Writes x, fills y and the copy with NaN, and renews the guards.
    pub(super) fn set_vectors(&self, x: impl Iterator<Item = f64>) {
        let Places { y, result, .. } = self.places;
        let [of_x, of_y] = self.places.elements();
        self.write(self.places.x, of_x, x);
        for [from, to] in self.guards() {
            self.write(from, to - from, std::iter::repeat(GUARD_BYTE));
        }
        self.write(y, of_y, std::iter::repeat(f64::NAN));
        self.write(result, of_y, std::iter::repeat(f64::NAN));
    }

    /// x as it is now.
    pub(super) fn x(&self) -> impl Iterator<Item = f64> {
        let [of_x, _] = self.places.elements();
        self.read::<f64>(self.places.x, of_x)
    }

    /// The copy of y.
    pub(super) fn result(&self) -> Vec<f64> {
        let [_, of_y] = self.places.elements();
        self.read::<f64>(self.places.result, of_y).collect()
    }

    /// Copies y.
    pub(super) fn keep_result(&self) {
        let [_, of_y] = self.places.elements();
        let y = self.read::<f64>(self.places.y, of_y);
        self.write(self.places.result, of_y, y);
    }

    /// Whether nothing was written before or after y.
    pub(super) fn is_guarded(&self) -> bool {
        let intact = |[from, to]: [usize; 2]| {
            self.read::<u8>(from, to - from).all(|byte| byte == GUARD_BYTE)
        };
        self.guards().into_iter().all(intact)
    }

    /// Pointers to row offsets, columns, values, x and y, for a library.
    pub(super) fn pointers(&self) -> Pointers {
        let Places { row_ptr, col, val, x, y, .. } = self.places;
        let at = |place: usize| self.map.as_mut_ptr().wrapping_add(place);
        let [val, x] = [val, x].map(|place| at(place).cast::<f64>().cast_const());
        let (row_ptr, col) = (at(row_ptr).cast::<u64>(), at(col).cast::<u32>());
        (row_ptr.cast_const(), col.cast_const(), val, x, at(y).cast::<f64>())
    }

    /// The same pointers to copies of the arrays on a GPU.
    pub(super) fn on_gpu(&self, gpu: &mut dyn LibraryGpu) -> Result<Pointers, String> {
        let Places { rows, nonzeros, x, y, result, .. } = self.places;
        let (row_ptr, col, val, ..) = self.pointers();
        // SAFETY: the arrays of the map have these sizes. The other process waits for this one.
        let (row_ptr, col, val) = unsafe {
            (
                gpu.upload(row_ptr.cast(), 8 * (rows + 1))?,
                gpu.upload(col.cast(), 4 * nonzeros)?,
                gpu.upload(val.cast(), 8 * nonzeros)?,
            )
        };
        let vectors = gpu.vectors(result - x)?;
        let (row_ptr, col, val) = (row_ptr.cast::<u64>(), col.cast::<u32>(), val.cast::<f64>());
        let (row_ptr, col, val) = (row_ptr.cast_const(), col.cast_const(), val.cast_const());
        let y = vectors.wrapping_add(y - x).cast::<f64>();
        Ok((row_ptr, col, val, vectors.cast::<f64>().cast_const(), y))
    }

    /// Where x and y with its guards begin: what a GPU copies.
    pub(super) fn vectors(&self) -> *mut u8 {
        self.map.as_mut_ptr().wrapping_add(self.places.x)
    }

    /// What lies between x and y, and between y and the copy.
    fn guards(&self) -> [[usize; 2]; 2] {
        let Places { x, y, result, .. } = self.places;
        let [of_x, of_y] = self.places.elements();
        [[x + 8 * of_x, y], [y + 8 * of_y, result]]
    }

    fn write<T: Copy>(&self, at: usize, count: usize, values: impl Iterator<Item = T>) {
        assert!(at + count * size_of::<T>() <= self.places.bytes, "an array ends in the memory");
        let to = self.map.as_mut_ptr().wrapping_add(at).cast::<T>();
        for (k, value) in values.take(count).enumerate() {
            // SAFETY: `k < count` elements from `at` lie in the map, as asserted; `at` is aligned to the
            // elements of its array. Nothing borrows the memory.
            unsafe { to.wrapping_add(k).write_volatile(value) };
        }
    }

    fn read<T: Copy>(&self, at: usize, count: usize) -> impl Iterator<Item = T> {
        assert!(at + count * size_of::<T>() <= self.places.bytes, "an array ends in the memory");
        let from = self.map.as_ptr().wrapping_add(at).cast::<T>();
        // SAFETY: as for `write`; the elements are numbers, for which every pattern of bits is valid. They were
        // written when the file was filled, with zeros if not by one of the processes.
        (0..count).map(move |k| unsafe { from.wrapping_add(k).read_volatile() })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::ptr::null_mut;

    use super::super::gpu::{GpuTimes, Work};
    use super::*;

    /// Stands in for a GPU: its arrays are in this process. The last one has the vectors.
    #[derive(Default)]
    struct InMemory(Vec<Vec<u64>>);

    impl InMemory {
        fn array(&mut self, bytes: usize) -> *mut u8 {
            self.0.push(vec![0; bytes.div_ceil(8)]);
            self.0.last_mut().unwrap().as_mut_ptr().cast()
        }
    }

    impl LibraryGpu for InMemory {
        fn stream(&self) -> *mut c_void {
            null_mut()
        }

        unsafe fn upload(&mut self, host: *const u8, bytes: usize) -> Result<*mut u8, String> {
            let array = self.array(bytes);
            // SAFETY: the caller's promise; the array is as long.
            unsafe { array.copy_from_nonoverlapping(host, bytes) };
            Ok(array)
        }

        fn vectors(&mut self, bytes: usize) -> Result<*mut u8, String> {
            Ok(self.array(bytes))
        }

        fn synchronize(&self) -> Result<(), String> {
            Ok(())
        }

        unsafe fn run(&self, _: *mut u8, _: Work<'_>, _: Work<'_>) -> Result<GpuTimes, String> {
            Err("it only holds arrays".to_owned())
        }
    }

    fn area(places: Places) -> Area {
        let file = tempfile::tempfile().unwrap();
        file.set_len(places.bytes as u64).unwrap();
        Area::of(&file, places).unwrap()
    }

    #[test]
    fn what_is_written_beside_y_is_found() {
        for [of_x, of_y] in [[1, 1], [3, 3], [2, 1]] {
            let places = Places::of([3, 2, 4], [of_x, of_y]).unwrap();
            let area = area(places);
            area.set_matrix([0, 1, 2, 4].into_iter(), 0..4, [1.0, 2.0, 3.0, 4.0].into_iter());
            let x: Vec<f64> = (5..).map(f64::from).take(2 * of_x).collect();
            let y: Vec<f64> = (7..).map(f64::from).take(3 * of_y).collect();
            area.set_vectors(x.iter().copied());
            assert!(area.is_guarded());
            assert_eq!(area.x().collect::<Vec<_>>(), x);
            assert!(area.result().iter().all(|y| y.is_nan()));
            area.write(places.y, y.len(), y.iter().copied());
            area.keep_result();
            assert_eq!(area.result(), y);
            assert!(area.is_guarded(), "y itself is no guard");
            for place in [places.y - 8, places.y + y.len() * 8] {
                area.write(place, 1, std::iter::once(0.0));
                assert!(!area.is_guarded());
                area.set_vectors(x.iter().copied());
                assert!(area.is_guarded());
            }
        }
    }

    #[test]
    fn a_gpu_gets_the_matrix_and_x_and_y_as_they_lie_in_the_memory() {
        let places = Places::of([3, 2, 4], [1; 2]).unwrap();
        let area = area(places);
        area.set_matrix([0, 1, 2, 4].into_iter(), 0..4, [1.0, 2.0, 3.0, 4.0].into_iter());
        area.set_vectors([5.0, 6.0].into_iter());
        let mut gpu = InMemory::default();
        let (row_ptr, col, val, x, y) = area.on_gpu(&mut gpu).unwrap();
        let arrays = &gpu.0;
        assert_eq!(arrays[0], [0, 1, 2, 4]);
        assert_eq!(arrays[1], [1 << 32, 2 | (3 << 32)], "columns of 32 bits");
        assert_eq!(arrays[2], [1.0f64, 2.0, 3.0, 4.0].map(f64::to_bits));
        let begins: Vec<*const u64> = arrays.iter().map(|array| array.as_ptr()).collect();
        assert_eq!(begins, [row_ptr, col.cast(), val.cast(), x.cast()]);
        // What is copied begins with x and ends where the guard after y ends.
        let (own_x, own_y) = (area.pointers().3, area.pointers().4);
        assert_eq!(area.vectors().cast_const().cast::<f64>(), own_x);
        assert_eq!(y.addr() - x.addr(), own_y.addr() - own_x.addr());
        assert_eq!(8 * arrays[3].len(), places.result - places.x);
    }

    #[test]
    fn sizes_that_do_not_fit_and_short_files_are_refused() {
        let half = usize::MAX / 2 + 1;
        let sizes = [([usize::MAX, 1, 1], 1), ([1, 1, usize::MAX / 4], 1), ([4, 1, 1], half)];
        assert_eq!(sizes.map(|(sizes, k)| Places::of(sizes, [1, k])), [None; 3]);
        let file = tempfile::tempfile().unwrap();
        file.set_len(64).unwrap();
        assert!(Area::of(&file, Places::of([3, 2, 4], [1; 2]).unwrap()).is_err());
    }
}
