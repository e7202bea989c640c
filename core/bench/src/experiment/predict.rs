//! Predictions of the layout model for the runs of a problem, other than their times.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::convert::convert;
use sparsescope_matrix::matrix::{AnyFormat, Csr, FormatSpec, Scalar};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_model::layout::{CpuTraffic, LayoutError, Loops, Schedule, Traffic};
use sparsescope_record::Predicted;

/// Memory traffic of one SpMV by the layout model, with the given threads on a CPU or threads per block on a
/// GPU (ignored by kernels with a fixed block size). On a GPU the values of A may have fewer bytes than the vectors.
/// `None` for kernels without a model, and once `cancel` is set.
pub(super) fn predict<T: Scalar>(
    kernel: &'static KernelDescriptor,
    (a, value_bytes): (&AnyFormat<T>, u32),
    workers: u32,
    cancel: &AtomicBool,
) -> Option<Predicted> {
    match kernel.device {
        DeviceKind::Cuda | DeviceKind::Wgpu => on_grid(kernel, (a, value_bytes), workers, cancel),
        DeviceKind::Cpu => on_processor(kernel, a, workers, cancel),
        DeviceKind::Nccl | DeviceKind::Ranks => Ok(None),
    }
    .unwrap_or_default()
}

/// The same for a matrix in f64, which is converted first; `None` also if that needs more than `limit`. It is
/// compiled in this crate, with the layout model.
pub fn predict_converted(
    kernel: &'static KernelDescriptor,
    spec: &FormatSpec,
    a: &Arc<Csr>,
    workers: u32,
    limit: MemoryLimit,
) -> Option<Predicted> {
    let made = convert(spec, a, limit).ok()?;
    predict(kernel, (&made, f64::BYTES as u32), workers, &AtomicBool::new(false))
}

fn on_grid<T: Scalar>(
    kernel: &'static KernelDescriptor,
    (a, value_bytes): (&AnyFormat<T>, u32),
    block: u32,
    cancel: &AtomicBool,
) -> Result<Option<Predicted>, LayoutError> {
    let schedule = Schedule::new(kernel, a, block, Loops::AsCompiled)?.storing(value_bytes);
    Ok(Traffic::unless(&schedule, cancel).map(|traffic| {
        let (loads, stores) = (traffic.loads(), traffic.stores());
        Predicted {
            load_sectors: Some(loads.sectors),
            store_sectors: Some(stores.sectors),
            useful_bytes: Some(loads.useful_bytes + stores.useful_bytes),
            idle_share: traffic.idle_share(),
            ..Predicted::default()
        }
    }))
}

fn on_processor<T: Scalar>(
    kernel: &'static KernelDescriptor,
    a: &AnyFormat<T>,
    threads: u32,
    cancel: &AtomicBool,
) -> Result<Option<Predicted>, LayoutError> {
    let traffic = CpuTraffic::unless(kernel, a, threads as usize, cancel)?;
    Ok(traffic.map(|traffic| Predicted {
        line_bytes: Some(traffic.shares().iter().map(|share| share.bytes()).sum()),
        // Chunks taken by the next free thread belong to no particular thread.
        imbalance: traffic.is_divided_by_worker().then(|| traffic.imbalance()).flatten(),
        ..Predicted::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_matrix::matrix::RowPtr;
    use sparsescope_model::kernel::{
        Cut, FormatParams, Mapping, UserFamily, kernel, kernels, user_kernels,
    };
    use sparsescope_record::Operation;

    fn diagonal(m: usize) -> Arc<Csr> {
        let row_ptr = RowPtr::from_lengths((0..m).map(|_| 1));
        let a = Csr::try_new(m, m, row_ptr, (0..m as u32).collect(), vec![1.0; m]);
        Arc::new(a.unwrap())
    }

    /// Row i has i mod 9 nonzeros, far apart.
    fn uneven(m: usize) -> Arc<Csr> {
        let row_ptr = RowPtr::from_lengths((0..m).map(|i| i % 9));
        let row = |i: usize| (0..i % 9).map(move |j| (j * (m / 9)) as u32);
        let col: Vec<u32> = (0..m).flat_map(row).collect();
        let val = vec![1.0; col.len()];
        Arc::new(Csr::try_new(m, m, row_ptr, col, val).unwrap())
    }

    fn of<T: Scalar>(id: &str, a: &Arc<Csr<T>>, workers: u32) -> Option<Predicted> {
        let kernel = kernel(id).unwrap();
        // Rows of more than four nonzeros are stored apart, where the kernel supports it.
        let spill = kernel.takes.order.then_some(4);
        let params = FormatParams { min_fill: Some(0), spill, ..FormatParams::default() };
        let spec = kernel.format().unwrap().with(&params);
        let a = spec.build(a, MemoryLimit::unlimited()).unwrap();
        predict(kernel, (&a, T::BYTES as u32), workers, &AtomicBool::new(false))
    }

    #[test]
    fn a_diagonal_in_columns_is_read_without_waste() {
        // Lengths and columns have 4 bytes, values, x and y 8: 64 rows are 8 + 8 + 16 + 16 sectors to load
        // and 16 to store, and lanes request every byte of them.
        let predicted = of("cuda/ell/column-major", &diagonal(64), 32).unwrap();
        let expected = Predicted {
            load_sectors: Some(48),
            store_sectors: Some(16),
            useful_bytes: Some(2048),
            idle_share: Some(0.0),
            ..Predicted::default()
        };
        assert_eq!((predicted.efficiency(), &predicted), (Some(1.0), &expected));
        // One warp per row leaves 31 lanes idle.
        let warps = of("cuda/csr/warp-shuffle", &diagonal(64), 32).unwrap();
        assert_eq!(warps.idle_share, Some(31.0 / 32.0));
    }

    #[test]
    fn values_of_four_bytes_take_half_the_sectors_and_lines() {
        // Everything has 4 bytes: 64 rows are 8 sectors each of lengths, columns, values and x to
        // load and 8 of y to store.
        let a = Arc::new(diagonal(64).map(|v| v as f32));
        let predicted = of("cuda/ell/column-major", &a, 32).unwrap();
        let expected = Predicted {
            load_sectors: Some(32),
            store_sectors: Some(8),
            useful_bytes: Some(40 * 32),
            idle_share: Some(0.0),
            ..Predicted::default()
        };
        assert_eq!(predicted, expected);
        // 65 row pointers are 5 lines, and columns, values, x and y 4 each.
        let serial = of("cpu/csr/serial", &a, 1).unwrap();
        assert_eq!(serial.line_bytes, Some(21 * 64));
    }

    #[test]
    fn values_in_fewer_bytes_than_the_vectors_take_fewer_sectors_and_nothing_else_does() {
        let (kernel, never) = (kernel("cuda/csr/thread-per-row").unwrap(), AtomicBool::new(false));
        let a = AnyFormat::Csr(Arc::new(diagonal(64).map(|v| v as f32)));
        let predicted = |bytes| predict(kernel, (&a, bytes), 32, &never).unwrap();
        let (wide, narrow) = (predicted(4), predicted(2));
        // 64 values are 8 sectors in 4 bytes, and 4 in 2.
        assert_eq!(narrow.load_sectors, wide.load_sectors.map(|sectors| sectors - 4));
        assert_eq!(narrow.useful_bytes, wide.useful_bytes.map(|bytes| bytes - 128));
        assert_eq!(narrow.store_sectors, wide.store_sectors);
    }

    #[test]
    fn a_processor_reads_every_line_once_a_thread() {
        // 65 row pointers and 64 columns of 4 bytes, 64 elements of val, x and y of 8:
        // 5 + 4 + 8 + 8 + 8 lines.
        let serial = of("cpu/csr/serial", &diagonal(64), 1).unwrap();
        assert_eq!((serial.line_bytes, serial.imbalance), (Some(33 * 64), Some(1.0)));
        assert_eq!((serial.moved_bytes(), serial.efficiency()), (Some(33 * 64), None));
        // Two threads: the line with row_ptr[32] is read by both.
        let two = of("cpu/csr/rows", &diagonal(64), 2).unwrap();
        assert_eq!((two.line_bytes, two.imbalance), (Some(34 * 64), Some(1.0)));
        // Chunks for the next free thread have no imbalance between threads.
        assert_eq!(of("cpu/hll/guided", &diagonal(64), 2).unwrap().imbalance, None);
    }

    #[test]
    fn blocks_matter_where_it_is_said() {
        let a = uneven(2000);
        for kernel in
            kernels(Operation::Spmv).iter().filter(|k| matches!(k.mapping, Mapping::Grid(_)))
        {
            let [one, other] = [64, 256].map(|block| of(kernel.id, &a, block).unwrap());
            assert_eq!(one != other, Schedule::depends_on_block(kernel), "{}", kernel.id);
        }
    }

    #[test]
    fn kernels_without_a_model_have_no_prediction_and_all_others_have_one() {
        let a = uneven(64);
        for kernel in kernels(Operation::Spmv).iter().filter(|kernel| kernel.format().is_some()) {
            assert_eq!(of(kernel.id, &a, 32).is_some(), kernel.model.is_some(), "{}", kernel.id);
        }
    }

    #[test]
    fn a_users_kernel_is_modelled_as_its_header_says() {
        let a = uneven(64);
        let mut slots = Vec::new();
        for family in UserFamily::ALL {
            let list =
                family.parameters().iter().map(|(of, name)| format!("{} {name}", of.as_str()));
            let text = format!(
                "// sparsescope kernel\n// family: {}\n// mapping: thread-per-row\n\n\
                 extern \"C\" __global__ void f({}) {{}}",
                family.as_str(),
                list.collect::<Vec<_>>().join(", ")
            );
            let kernel = user_kernels("f.cu", text.as_bytes()).unwrap()[0];
            let spec = kernel.format().unwrap().with(&FormatParams::default());
            let format = spec.build(&a, MemoryLimit::unlimited()).unwrap();
            assert!(predict(kernel, (&format, 8), 64, &AtomicBool::new(false)).is_some());
            let cut = Cut::new(kernel, &format, 32).unwrap();
            let read = (0..64).map(|thread| kernel.accesses(&format, &cut, thread).len());
            let read: usize = read.sum();
            slots.push(read);
        }
        // Seven rows of each length up to 8, and one of length 0: in hacks of 32 rows, whose longest row has
        // 8, and in ELLPACK, all rows are padded to 8, except in the family that knows where rows end.
        let entries = 7 * (1..9).sum::<usize>();
        assert_eq!(slots, [entries, 64 * 8, entries, 64 * 8, 64 * 8]);
    }

    #[test]
    fn nothing_is_predicted_once_it_is_cancelled() {
        let a = AnyFormat::Csr(uneven(64));
        for id in ["cuda/csr/thread-per-row", "cpu/csr/nnz"] {
            let kernel = kernel(id).unwrap();
            assert_eq!(predict(kernel, (&a, 8), 32, &AtomicBool::new(true)), None, "{id}");
        }
    }
}
