#![doc = include_str!("../README.md")]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod air_analysis;
mod bus;
mod emulate;
mod errors;
mod simulate;
mod specimen_file;
mod window;
mod worker;

use pyo3::prelude::*;

/// Version of the native module, the same as that of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// `release` or `debug`: figures of speed mean nothing from a debug build.
#[pyfunction]
fn build_profile() -> &'static str {
    if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    }
}

/// Rust parts of txop.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(build_profile, module)?)?;
    module.add_function(wrap_pyfunction!(air_analysis::analyze_air, module)?)?;
    module.add_function(wrap_pyfunction!(bus::analyze_bus, module)?)?;
    module.add_function(wrap_pyfunction!(emulate::check_link_tables, module)?)?;
    module.add_function(wrap_pyfunction!(emulate::emulate_link, module)?)?;
    module.add_function(wrap_pyfunction!(emulate::scenario_hosts, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::check_link, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::check_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(specimen_file::specimen_scenes, module)?)?;
    module.add_function(wrap_pyfunction!(specimen_file::write_specimen, module)?)?;
    Ok(())
}
