//! Loads a setup's code before it is timed.

use sparsescope_core::matrix::Offset;

use crate::arguments::{
    Arguments, Element, FsaiClass, FsaiDrop, FsaiFirst, FsaiGroupFind, FsaiGroupNumber,
    FsaiGroupOpens, FsaiGroupPlace, FsaiGroupSort, FsaiKeep, FsaiKept, FsaiLong, FsaiLower,
    FsaiReach, FsaiReachLong, FsaiRows, FsaiSame, FsaiSolve, FsaiTotal, FsaiTranspose, OrderCount,
    OrderDigits, OrderScan, OrderSort, OrderStarts, OrderSums,
};
use crate::device::{Device, DeviceError};

/// Loads all kernels that a setup may launch.
pub(super) fn load<O: Offset + Element>(device: &Device) -> Result<(), DeviceError> {
    load_one::<FsaiLower<'_, O>>(device)?;
    load_one::<FsaiKept<'_, O>>(device)?;
    load_one::<FsaiSame<'_, O>>(device)?;
    load_one::<FsaiFirst<'_, O>>(device)?;
    load_one::<FsaiReach<'_, O>>(device)?;
    load_one::<FsaiReachLong<'_, O>>(device)?;
    load_one::<FsaiSolve<'_, O>>(device)?;
    load_one::<FsaiLong<'_, O>>(device)?;
    load_one::<FsaiDrop<'_, O>>(device)?;
    load_one::<FsaiGroupFind<'_>>(device)?;
    load_one::<FsaiGroupOpens<'_>>(device)?;
    load_one::<FsaiGroupNumber<'_>>(device)?;
    load_one::<FsaiGroupSort<'_>>(device)?;
    load_one::<FsaiGroupPlace<'_>>(device)?;
    load_one::<FsaiTotal<'_>>(device)?;
    load_one::<FsaiClass<'_>>(device)?;
    load_one::<FsaiKeep<'_>>(device)?;
    load_one::<FsaiRows<'_>>(device)?;
    load_one::<FsaiTranspose<'_>>(device)?;
    load_one::<OrderCount<'_>>(device)?;
    load_one::<OrderSums<'_>>(device)?;
    load_one::<OrderStarts<'_>>(device)?;
    load_one::<OrderScan<'_>>(device)?;
    load_one::<OrderDigits<'_>>(device)?;
    load_one::<OrderSort<'_>>(device)
}

fn load_one<A: Arguments>(device: &Device) -> Result<(), DeviceError> {
    A::FUNCTIONS.iter().try_for_each(|name| device.kernel(A::VARIANT, name).map(drop))
}
