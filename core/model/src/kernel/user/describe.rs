//! Turns a file into the descriptors of its kernels.

use super::error::UserKernelError;
use super::header::Header;
use super::signature::functions;
use super::source::{UserKernel, UserSource, id_of};
use crate::kernel::descriptor::{KernelDescriptor, Origin};
use crate::kernel::model::Unrolling;
use crate::kernel::scaled::{PLAIN_SCALE, SCALE};
use crate::kernel::spmv::cuda_spmv;
use sparsescope_matrix::matrix::sha256;
use sparsescope_record::MOST_SOURCE_BYTES;

/// The kernels of a file with this name (without its folder), one for each function that can be
/// launched.
///
/// Descriptors are static everywhere, so what is read here is kept until the program ends. A
/// program reads the few files that its user names, each once.
pub fn user_kernels(
    file: &str,
    content: &[u8],
) -> Result<Vec<&'static KernelDescriptor>, UserKernelError> {
    let named = || file.to_owned();
    if file.contains(|c: char| matches!(c, '"' | '\\') || c.is_control()) {
        return Err(UserKernelError::Name { file: file.escape_debug().to_string() });
    }
    if content.len() > MOST_SOURCE_BYTES {
        return Err(UserKernelError::TooLong { file: named(), bytes: content.len() });
    }
    // A zero byte would end the text for a compiler.
    let text = std::str::from_utf8(content).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| UserKernelError::NoText { file: named() })?.to_owned();
    let header = Header::of(file, &text)?;
    let functions = functions(file, &text, header.family)?;
    let sha256 = sha256(content);
    let source: &'static UserSource =
        Box::leak(Box::new(UserSource { file: named(), text, sha256, header }));
    let mut kernels: Vec<&'static KernelDescriptor> = Vec::new();
    for function in functions {
        let id = id_of(file, &function.name);
        if kernels.iter().any(|known| known.id == id) {
            return Err(UserKernelError::SameId { file: named(), id });
        }
        let kernel = Box::leak(Box::new(UserKernel { source, function }));
        kernels.push(Box::leak(Box::new(descriptor(id, kernel))));
    }
    Ok(kernels)
}

/// The descriptor of our kernels with this format and mapping; how the compiler splits its loops is
/// unknown.
fn descriptor(id: String, user: &'static UserKernel) -> KernelDescriptor {
    let (family, mapping) = (user.family(), user.source.header.mapping);
    let (format, loops) = (family.format(), (family.multiplies_padding(), Unrolling::None));
    let summary = format!("user kernel: {} on {}", mapping.word, family.as_str());
    let (id, summary) = (id.leak(), summary.leak());
    let mut kernel = cuda_spmv(id, format, mapping.grid, loops, &[Origin::User], summary);
    kernel.precisions = user.precisions();
    // The author has not promised it.
    kernel.deterministic = false;
    // What its function stores is the product alone.
    let listed = kernel.parameters.iter();
    let plain = |&(of, allowed)| if of == SCALE.id() { PLAIN_SCALE } else { (of, allowed) };
    kernel.parameters = listed.map(plain).collect::<Vec<_>>().leak();
    kernel.user = Some(user);
    kernel
}
