//! What generations of Realtek's chips have in common: the register file, the key memory with its ciphers, power save,
//! the efuse, the queues, and what requests mean.

pub mod cam;
pub(super) mod crypto;
pub(super) mod efuse;
pub mod memory;
pub mod power;
pub(super) mod queues;
pub(super) mod vocabulary;
