#![doc = include_str!("../README.md")]
#![cfg(target_os = "linux")]

mod capabilities;
mod devices;
mod error;
mod file_access;
mod hidden;
mod mount_table;
mod namespaces;
mod overlay;
mod sockets;
mod system_calls;
mod view;

pub use capabilities::give_up_capabilities;
pub use error::SandboxError;
pub use file_access::FileAccess;
pub use namespaces::{enter_namespaces, join_namespaces, settle_in};
pub use overlay::Overlay;
pub use sockets::find_sockets;
pub use system_calls::{Sockets, filter_system_calls};
pub use view::View;
