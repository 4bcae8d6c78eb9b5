//! The canonical frame address at an instruction: what the places of variables on the stack are told from.

use super::scopes::{Held, number};
use crate::stacks::module::Module;
use crate::stacks::symbols::Bytes;
use addr2line::gimli;
use gimli::{BaseAddresses, CfaRule, DebugFrame, EhFrame, EhFrameHdr, LittleEndian, UnwindContext, UnwindSection};
use std::sync::Arc;

/// The stack pointer before the function at an address of a file was called.
pub(super) fn cfa(module: &Module, address: u64, registers: &Held) -> Option<u64> {
    let (register, offset) = rule(module, address)?;
    registers.get(number(register)?).copied().flatten()?.checked_add_signed(offset)
}

/// The register from which it is told, and what is added.
fn rule(module: &Module, address: u64) -> Option<(gimli::Register, i64)> {
    let reader = |bytes: &Arc<[u8]>| Bytes::new(Arc::clone(bytes), LittleEndian);
    let mut bases = BaseAddresses::default();
    if let Some(text) = &module.text {
        bases = bases.set_text(text.start);
    }
    if let Some(got) = &module.got {
        bases = bases.set_got(got.start);
    }
    let mut context = UnwindContext::new();
    let of = |row: &gimli::UnwindTableRow<usize>| match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => Some((*register, *offset)),
        // Of stubs that the linker makes.
        CfaRule::Expression(_) => None,
    };
    if let Some((range, bytes)) = &module.frames {
        bases = bases.set_eh_frame(range.start);
        let frames = EhFrame::from(reader(bytes));
        if let Some((range, bytes)) = &module.index {
            let bases = bases.clone().set_eh_frame_hdr(range.start);
            let index = EhFrameHdr::from(reader(bytes)).parse(&bases, 8).ok();
            if let Some(table) = index.as_ref().and_then(|index| index.table()) {
                let found =
                    table.unwind_info_for_address(&frames, &bases, &mut context, address, EhFrame::cie_from_offset);
                if let Some(found) = found.ok().and_then(of) {
                    return Some(found);
                }
            }
        }
        let found = frames.unwind_info_for_address(&bases, &mut context, address, EhFrame::cie_from_offset);
        if let Some(found) = found.ok().and_then(of) {
            return Some(found);
        }
    }
    let frames = DebugFrame::from(reader(module.debug_frames.as_ref()?));
    let found = frames.unwind_info_for_address(&bases, &mut context, address, DebugFrame::cie_from_offset);
    found.ok().and_then(of)
}
