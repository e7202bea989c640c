//! Display names of adapters.

/// Whether the GPU is emulated on a CPU.
pub(crate) fn is_software(info: &wgpu::AdapterInfo) -> bool {
    let name = info.name.to_lowercase();
    let is_known = ["swiftshader", "llvmpipe", "basic render"].iter().any(|of| name.contains(of));
    info.device_type == wgpu::DeviceType::Cpu || is_known
}

/// The device's model: its name, its graphics API, and "software" if it is emulated on a CPU. This
/// distinguishes it from the same device through CUDA.
pub(crate) fn model(info: &wgpu::AdapterInfo) -> String {
    let software = if is_software(info) { ", software" } else { "" };
    format!("{} ({}{software})", info.name, interface(info.backend))
}

/// Display name of a graphics API.
pub(crate) fn interface(backend: wgpu::Backend) -> &'static str {
    match backend {
        wgpu::Backend::Vulkan => "Vulkan",
        wgpu::Backend::Metal => "Metal",
        wgpu::Backend::Dx12 => "Direct3D 12",
        wgpu::Backend::BrowserWebGpu => "WebGPU",
        wgpu::Backend::Gl => "OpenGL",
        wgpu::Backend::Noop => "nothing",
    }
}

/// Kind of the device.
pub(crate) fn kind(info: &wgpu::AdapterInfo) -> &'static str {
    match (is_software(info), info.device_type) {
        (true, _) => "software: a CPU emulates the GPU",
        (_, wgpu::DeviceType::DiscreteGpu) => "discrete GPU",
        (_, wgpu::DeviceType::IntegratedGpu) => "integrated GPU",
        (_, wgpu::DeviceType::VirtualGpu) => "virtual GPU",
        _ => "unknown",
    }
}

/// Name of a vendor by its PCI number.
pub(crate) fn vendor(number: u32) -> String {
    match number {
        0x1002 => "AMD".to_owned(),
        0x106b => "Apple".to_owned(),
        0x10de => "NVIDIA".to_owned(),
        0x13b5 => "Arm".to_owned(),
        0x5143 => "Qualcomm".to_owned(),
        0x8086 => "Intel".to_owned(),
        0x10005 => "Mesa".to_owned(),
        0 => String::new(),
        other => format!("{other:#06x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, device_type: wgpu::DeviceType) -> wgpu::AdapterInfo {
        let info = wgpu::AdapterInfo::new(device_type, wgpu::Backend::Vulkan);
        wgpu::AdapterInfo { name: name.to_owned(), ..info }
    }

    #[test]
    fn software_is_named_as_such_whatever_it_says_it_is() {
        let gpu = info("NVIDIA H200", wgpu::DeviceType::DiscreteGpu);
        assert_eq!((is_software(&gpu), model(&gpu).as_str()), (false, "NVIDIA H200 (Vulkan)"));
        for software in [
            info("llvmpipe (LLVM 19.1.7, 256 bits)", wgpu::DeviceType::Other),
            info("SwiftShader Device (Subzero)", wgpu::DeviceType::VirtualGpu),
            info("something", wgpu::DeviceType::Cpu),
        ] {
            assert!(is_software(&software));
            assert!(model(&software).ends_with(" (Vulkan, software)"), "{}", model(&software));
            assert!(kind(&software).starts_with("software"));
        }
    }
}
