//! Measuring in the page: the browser's implementation of what `sparsescope_views::here` requires. The panel
//! outlives the viewer, which is restarted when the browser takes its graphics context away.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::Value;
use sparsescope_core::experiment::Interruptions;
use sparsescope_core::record::{Operation, Producer};
use sparsescope_views::here::{Ask, HerePanel, Host, Later};
use sparsescope_wgpu::{PageDevice, WgpuBackend};

use crate::page;

thread_local! {
    static PANEL: Rc<RefCell<HerePanel>> = Rc::new(RefCell::new(HerePanel::new(Rc::new(Browser))));
}

/// The page's one panel.
pub(crate) fn panel() -> Rc<RefCell<HerePanel>> {
    PANEL.with(Rc::clone)
}

/// Answers a request of the panel.
pub(crate) fn answer(ask: &Ask) {
    match ask {
        Ask::Keep(name, bytes) => page::keep(name, bytes),
        Ask::Compare => page::open_example("gpu", Operation::Spmv.as_str()),
        Ask::Save(name, bytes) => page::save(name, bytes),
        Ask::SaveHtml(name, bytes) => page::save_html(name, bytes),
    }
}

/// The browser that shows the page.
struct Browser;

impl Host for Browser {
    fn spawn(&self, work: Later<()>) {
        wasm_bindgen_futures::spawn_local(work);
    }

    fn turn(&self) -> Later<()> {
        Box::pin(page::turn())
    }

    fn seen(&self) -> Later<()> {
        Box::pin(page::seen())
    }

    fn is_hidden(&self) -> bool {
        page::is_hidden()
    }

    fn open_gpu(&self, interruptions: Interruptions) -> Later<Result<WgpuBackend, String>> {
        Box::pin(async move {
            let why = page::why_no_gpu();
            if !why.is_empty() {
                return Err(why);
            }
            let opened = WgpuBackend::open_in_page(Box::new(device), interruptions).await;
            opened.map_err(|error| format!("WebGPU cannot be used: {error}."))
        })
    }

    fn producer(&self) -> Producer {
        sparsescope::producer()
    }

    fn browser(&self) -> String {
        page::browser()
    }

    fn now(&self) -> String {
        page::now()
    }
}

/// The device opened last.
fn device() -> PageDevice {
    let told: Value = serde_json::from_str(&page::gpu()).unwrap_or_default();
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
    let is = |name: &str| told[name].as_bool().unwrap_or_default();
    PageDevice {
        vendor: text("vendor"),
        architecture: text("architecture"),
        description: text("description"),
        is_fallback: is("fallback"),
        has_subgroups: is("subgroups"),
        browser: page::browser(),
    }
}
