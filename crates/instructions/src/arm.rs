//! aarch64: what yaxpeax-arm decodes, in our terms. It tells operands, but not which of them are written: that is here, by the name of the instruction.

use crate::instruction::{Assign, Flow, Instruction, Memory, Work, hash};
use crate::{Register, Registers};
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Opcode, Operand, SIMDSizeCode, ShiftStyle, SizeCode};

type Decoded = yaxpeax_arm::armv8::a64::Instruction;

pub(crate) fn decode(bytes: &[u8], address: u64) -> Vec<Instruction> {
    let decoder = InstDecoder::default();
    let words = bytes.chunks(4).enumerate();
    let decoded = words.map(|(at, word)| {
        let address = address.wrapping_add(at as u64 * 4);
        match decoder.decode(&mut U8Reader::new(word)) {
            Ok(decoded) if word.len() == 4 && !matches!(decoded.opcode, Opcode::Invalid | Opcode::UDF) => {
                instruction(&decoded, address)
            }
            _ => Instruction::unknown(address, word),
        }
    });
    decoded.collect()
}

/// Number 31 is the zero register, which nothing depends on.
fn general(number: u16) -> Option<Register> {
    if number >= 31 { None } else { u8::try_from(number).ok().and_then(Register::general) }
}

/// Number 31 is the stack pointer.
fn or_stack(number: u16) -> Option<Register> {
    u8::try_from(number).ok().and_then(Register::general)
}

fn vectors(first: u16, count: u8) -> impl Iterator<Item = Register> {
    (0..u16::from(count)).filter_map(move |n| u8::try_from((first + n) % 32).ok().and_then(Register::vector))
}

/// Registers that an operand names, those of an address too.
fn named(operand: &Operand) -> Vec<Register> {
    let one = |r: Option<Register>| r.into_iter().collect();
    match *operand {
        Operand::Register(_, n) | Operand::RegShift(_, _, _, n) => one(general(n)),
        Operand::RegisterPair(_, n) => [general(n), general(n + 1)].into_iter().flatten().collect(),
        Operand::RegisterOrSP(_, n) | Operand::RegPreIndex(n, _, _) | Operand::RegPostIndex(n, _) => one(or_stack(n)),
        Operand::RegRegOffset(base, index, ..) | Operand::RegPostIndexReg(base, index) => {
            [or_stack(base), general(index)].into_iter().flatten().collect()
        }
        Operand::SIMDRegister(_, n)
        | Operand::SIMDRegisterElements(_, n, _)
        | Operand::SIMDRegisterElementsLane(_, n, _, _) => vectors(n, 1).collect(),
        Operand::SIMDRegisterElementsMultipleLane(_, n, ..) => vectors(n, 1).collect(),
        Operand::SIMDRegisterGroup(_, n, _, count) | Operand::SIMDRegisterGroupLane(n, _, count, _) => {
            vectors(n, count.min(4)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_vector(operand: &Operand) -> bool {
    matches!(
        operand,
        Operand::SIMDRegister(..)
            | Operand::SIMDRegisterElements(..)
            | Operand::SIMDRegisterElementsLane(..)
            | Operand::SIMDRegisterElementsMultipleLane(..)
            | Operand::SIMDRegisterGroup(..)
            | Operand::SIMDRegisterGroupLane(..)
    )
}

fn is_general(operand: &Operand) -> bool {
    matches!(operand, Operand::Register(..) | Operand::RegisterOrSP(..) | Operand::RegisterPair(..))
}

fn is_address(operand: &Operand) -> bool {
    matches!(
        operand,
        Operand::RegRegOffset(..) | Operand::RegPreIndex(..) | Operand::RegPostIndex(..) | Operand::RegPostIndexReg(..)
    )
}

/// Registers that a function may change for its caller by the procedure call standard: x0 to x18, x30, flags, v0 to v7, v16 to v31.
fn clobbered() -> Registers {
    let general = (0..=18).chain([30]).filter_map(Register::general);
    general.chain((0..8).chain(16..32).filter_map(Register::vector)).chain([Register::FLAGS, Register::OTHER]).collect()
}

fn any(name: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| name.starts_with(start))
}

/// What memory an instruction reads and writes.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    None,
    Load,
    Store,
    /// A store that says whether it was done, in its first operand.
    Exclusive,
    /// Reads, changes, writes.
    Atomic,
}

fn access_of(name: &str) -> Access {
    const ATOMIC: [&str; 11] =
        ["ldadd", "ldclr", "ldeor", "ldset", "ldsmax", "ldsmin", "ldumax", "ldumin", "swp", "cas", "stadd"];
    if any(name, &ATOMIC) {
        Access::Atomic
    } else if any(name, &["stxr", "stlxr", "stxp", "stlxp"]) {
        Access::Exclusive
    } else if name.starts_with("ld") {
        Access::Load
    } else if name.starts_with("st") {
        Access::Store
    } else {
        Access::None
    }
}

fn instruction(decoded: &Decoded, address: u64) -> Instruction {
    let debug = format!("{:?}", decoded.opcode).to_ascii_lowercase();
    let name = debug.split('(').next().unwrap_or_default();
    let operands: Vec<&Operand> = decoded.operands.iter().take_while(|o| !matches!(o, Operand::Nothing)).collect();
    let access = access_of(name);
    let mut reads = Registers::default();
    let mut writes = Registers::default();
    for (at, operand) in operands.iter().enumerate() {
        let (read, write) = of_operand(name, access, at, operand);
        for register in named(operand) {
            if read {
                reads.insert(register);
            }
            if write {
                writes.insert(register);
            }
        }
    }
    if matches!(
        name,
        "adc"
            | "adcs"
            | "sbc"
            | "sbcs"
            | "ccmp"
            | "ccmn"
            | "csel"
            | "csinc"
            | "csinv"
            | "csneg"
            | "fcsel"
            | "fccmp"
            | "fccmpe"
            | "bcc"
            | "bccc"
    ) {
        reads.insert(Register::FLAGS);
    }
    if matches!(
        name,
        "adds"
            | "subs"
            | "ands"
            | "bics"
            | "adcs"
            | "sbcs"
            | "ccmp"
            | "ccmn"
            | "fcmp"
            | "fcmpe"
            | "fccmp"
            | "fccmpe"
            | "subps"
            | "setf8"
            | "setf16"
            | "rmif"
    ) {
        writes.insert(Register::FLAGS);
    }
    let flow = flow(name);
    if matches!(flow, Flow::Call | Flow::IndirectCall) {
        writes = writes.union(clobbered());
    }
    let offset = operands.iter().find_map(|o| if let Operand::PCOffset(offset) = o { Some(*offset) } else { None });
    let place = offset.map(|offset| {
        if name == "adrp" {
            (address & !0xfff).wrapping_add_signed(offset)
        } else {
            address.wrapping_add_signed(offset)
        }
    });
    let target = place.filter(|_| matches!(flow, Flow::Jump | Flow::Branch | Flow::Call));
    let memory = memory(name, access, &operands, place);
    // The base of an access with write-back is written.
    let assigns = [assigned(name, &operands), written_back(&operands)];
    for assign in assigns.iter().flatten() {
        writes.insert(assign.to);
    }
    if let Some(Operand::RegPostIndexReg(base, _)) = operands.iter().find(|o| matches!(o, Operand::RegPostIndexReg(..)))
    {
        writes.extend_by(or_stack(*base));
    }
    Instruction {
        address,
        length: 4,
        work: work(name, decoded, access, &operands),
        flow,
        reads,
        writes,
        memory,
        assigns,
        target,
        operands: operands.iter().flat_map(|o| named(o)).collect(),
        form: hash(&(name, operands.iter().map(|o| shape(name, o)).collect::<Vec<_>>())),
        name: hash(&name),
        text: text(decoded, place),
    }
}

impl Registers {
    fn extend_by(&mut self, register: Option<Register>) {
        if let Some(register) = register {
            self.insert(register);
        }
    }
}

/// Is an operand read, is it written?
fn of_operand(name: &str, access: Access, at: usize, operand: &Operand) -> (bool, bool) {
    if is_address(operand) {
        return (true, false);
    }
    let pair = matches!(name, "ldp" | "ldnp" | "ldpsw" | "ldxp" | "ldaxp");
    match access {
        Access::Load if at == 0 || pair && at == 1 => {
            return (matches!(operand, Operand::SIMDRegisterGroupLane(..)), true);
        }
        Access::Load => return (true, false),
        Access::Store => return (true, false),
        Access::Exclusive => return (at > 0, at == 0),
        // The first register is what is put in (and of a compare-and-swap what was there), the second what was there.
        Access::Atomic if name.starts_with("cas") => return (true, at == 0),
        Access::Atomic => return (at != 1, at == 1),
        Access::None => {}
    }
    if at > 0 {
        return (true, false);
    }
    // First operands that are only read, and those that are read and written.
    let compares = matches!(
        name,
        "ccmp"
            | "ccmn"
            | "fcmp"
            | "fcmpe"
            | "fccmp"
            | "fccmpe"
            | "cbz"
            | "cbnz"
            | "tbz"
            | "tbnz"
            | "setf8"
            | "setf16"
            | "rmif"
            | "msr"
            | "sys"
    );
    if compares || matches!(flow(name), Flow::Indirect | Flow::IndirectCall | Flow::Return) {
        return (true, false);
    }
    const CHANGES: [&str; 20] = [
        "movk", "bfm", "ins", "fmla", "fmls", "mla", "mls", "smlal", "umlal", "smlsl", "umlsl", "sqdmlal", "sqdmlsl",
        "saba", "uaba", "sadalp", "uadalp", "bsl", "bit", "bif",
    ];
    const MORE: [&str; 16] = [
        "tbx", "sri", "sli", "ssra", "usra", "srsra", "ursra", "udot", "sdot", "fcmla", "aese", "aesd", "sha", "pac",
        "aut", "sqrdml",
    ];
    let changes = any(name, &CHANGES) || any(name, &MORE) || name.ends_with("n2");
    (changes, true)
}

fn flow(name: &str) -> Flow {
    match name {
        "b" => Flow::Jump,
        "bcc" | "bccc" | "cbz" | "cbnz" | "tbz" | "tbnz" => Flow::Branch,
        "bl" => Flow::Call,
        "blr" | "blraa" | "blraaz" | "blrab" | "blrabz" => Flow::IndirectCall,
        "br" | "braa" | "braaz" | "brab" | "brabz" => Flow::Indirect,
        "brk" | "hlt" | "dcps1" | "dcps2" | "dcps3" => Flow::Stop,
        _ if any(name, &["ret", "eret", "drps"]) => Flow::Return,
        _ => Flow::Next,
    }
}

fn size_of(operand: &Operand) -> u16 {
    let simd = |size: SIMDSizeCode| match size {
        SIMDSizeCode::B => 1,
        SIMDSizeCode::H => 2,
        SIMDSizeCode::S => 4,
        SIMDSizeCode::D => 8,
        SIMDSizeCode::Q => 16,
    };
    match *operand {
        Operand::Register(SizeCode::W, _) => 4,
        Operand::Register(SizeCode::X, _) => 8,
        Operand::RegisterPair(SizeCode::W, _) => 8,
        Operand::RegisterPair(SizeCode::X, _) => 16,
        Operand::SIMDRegister(size, _) => simd(size),
        Operand::SIMDRegisterGroup(size, _, _, count) => simd(size) * u16::from(count),
        _ => 0,
    }
}

fn memory(name: &str, access: Access, operands: &[&Operand], place: Option<u64>) -> Option<Memory> {
    let (reads, writes) = match access {
        Access::None => return None,
        Access::Load => (true, false),
        Access::Store | Access::Exclusive => (false, true),
        Access::Atomic => (true, true),
    };
    let data = operands.get(usize::from(access == Access::Exclusive))?;
    let size = if name.contains("sw") && name.starts_with("ld") && name != "ldpsw" {
        4
    } else if name.ends_with('b') && is_general(data) {
        1
    } else if name.ends_with('h') && is_general(data) {
        2
    } else if name == "ldpsw" {
        8
    } else {
        let pair = matches!(name, "ldp" | "ldnp" | "stp" | "stnp" | "ldxp" | "ldaxp" | "stxp" | "stlxp");
        size_of(data) * if pair { 2 } else { 1 }
    };
    let none = Memory {
        base: None,
        index: None,
        scale: 1,
        index_bits: 64,
        displacement: 0,
        absolute: None,
        of_thread: false,
        size,
        reads,
        writes,
    };
    let address = operands.iter().find(|o| is_address(o));
    Some(match address {
        Some(Operand::RegPreIndex(base, displacement, _)) => {
            Memory { base: or_stack(*base), displacement: i64::from(*displacement), ..none }
        }
        Some(Operand::RegPostIndex(base, _)) | Some(Operand::RegPostIndexReg(base, _)) => {
            Memory { base: or_stack(*base), ..none }
        }
        Some(Operand::RegRegOffset(base, index, width, style, shift)) => Memory {
            base: or_stack(*base),
            index: general(*index),
            scale: 1u8.checked_shl(u32::from(*shift)).unwrap_or(1),
            index_bits: if *width == SizeCode::W || matches!(style, ShiftStyle::UXTW | ShiftStyle::SXTW) {
                32
            } else {
                64
            },
            ..none
        },
        _ => Memory { absolute: Some(place?), ..none },
    })
}

fn written_back(operands: &[&Operand]) -> Option<Assign> {
    operands.iter().find_map(|operand| {
        let (base, add) = match **operand {
            Operand::RegPreIndex(base, add, true) | Operand::RegPostIndex(base, add) => {
                (or_stack(base)?, i64::from(add))
            }
            _ => return None,
        };
        Some(Assign { to: base, from: base, add, bits: 64 })
    })
}

fn assigned(name: &str, operands: &[&Operand]) -> Option<Assign> {
    let register = |at: usize| match operands.get(at)? {
        Operand::Register(size, n) => Some((general(*n)?, *size)),
        Operand::RegisterOrSP(size, n) => Some((or_stack(*n)?, *size)),
        _ => None,
    };
    let bits = |size: SizeCode| if size == SizeCode::W { 32 } else { 64 };
    let (to, size) = register(0)?;
    match name {
        "add" | "adds" | "sub" | "subs" => {
            let (from, _) = register(1)?;
            let add = match operands.get(2)? {
                Operand::Immediate(value) => i64::from(*value),
                Operand::Imm64(value) => *value as i64,
                Operand::Imm16(value) => i64::from(*value),
                Operand::ImmShift(value, shift) => i64::from(*value).checked_shl(u32::from(*shift))?,
                _ => return None,
            };
            Some(Assign { to, from, add: if name.starts_with("sub") { -add } else { add }, bits: bits(size) })
        }
        // mov, of registers.
        "orr" if matches!(operands.get(1), Some(Operand::Register(_, 31))) => match operands.get(2)? {
            Operand::RegShift(ShiftStyle::LSL, 0, _, n) | Operand::Register(_, n) => {
                Some(Assign { to, from: general(*n)?, add: 0, bits: bits(size) })
            }
            _ => None,
        },
        // sxtw
        "sbfm"
            if matches!(
                (operands.get(2), operands.get(3)),
                (Some(Operand::Immediate(0)), Some(Operand::Immediate(31)))
            ) =>
        {
            Some(Assign { to, from: register(1)?.0, add: 0, bits: 32 })
        }
        _ => None,
    }
}

/// What of an operand is the same in code that was made anew: neither its register nor an address.
fn shape(name: &str, operand: &Operand) -> (u8, i64) {
    match *operand {
        Operand::PCOffset(_) => (1, 0),
        Operand::Immediate(value) => (2, i64::from(value)),
        Operand::Imm64(value) => (2, value as i64),
        Operand::Imm16(value) => (2, i64::from(value)),
        // Pieces of addresses are put together by these.
        Operand::ImmShift(value, shift) => {
            (3, if name.starts_with("mov") && shift > 0 { i64::from(shift) } else { i64::from(value) })
        }
        Operand::Register(size, n) | Operand::RegisterOrSP(size, n) => (if n == 31 { 4 } else { 5 }, size as i64),
        Operand::RegShift(style, amount, size, _) => (6, (style as i64) << 16 | i64::from(amount) << 8 | size as i64),
        Operand::RegRegOffset(_, _, size, style, amount) => {
            (7, (style as i64) << 16 | i64::from(amount) << 8 | size as i64)
        }
        Operand::RegPreIndex(_, offset, back) => (if back { 8 } else { 9 }, i64::from(offset)),
        Operand::RegPostIndex(_, offset) => (10, i64::from(offset)),
        Operand::RegPostIndexReg(..) => (11, 0),
        Operand::ConditionCode(code) => (12, i64::from(code)),
        Operand::SIMDRegister(size, _) => (13, size as i64),
        Operand::SIMDRegisterElements(size, _, element) => (14, (size as i64) << 8 | element as i64),
        Operand::SIMDRegisterElementsLane(size, _, element, lane) => {
            (15, (size as i64) << 16 | (element as i64) << 8 | i64::from(lane))
        }
        Operand::SIMDRegisterGroup(size, _, element, count) => {
            (16, (size as i64) << 16 | (element as i64) << 8 | i64::from(count))
        }
        Operand::SystemReg(n) => (17, i64::from(n)),
        _ => (18, 0),
    }
}

fn work(name: &str, decoded: &Decoded, access: Access, operands: &[&Operand]) -> Work {
    match flow(name) {
        Flow::Call | Flow::IndirectCall => return Work::Call,
        Flow::Return if name.starts_with("ret") => return Work::Return,
        Flow::Jump | Flow::Branch | Flow::Indirect => return Work::Branch,
        Flow::Stop | Flow::Return => return Work::System,
        Flow::Next => {}
    }
    match access {
        Access::Atomic | Access::Exclusive => return Work::Atomic,
        Access::Load if any(name, &["ldxr", "ldaxr", "ldxp", "ldaxp"]) => return Work::Atomic,
        Access::Load | Access::Store => return Work::Copy,
        Access::None => {}
    }
    if let Opcode::HINT = decoded.opcode {
        return match (decoded.operands[0], decoded.operands[1]) {
            (Operand::ControlReg(0), Operand::Immediate(1..=3)) => Work::Pause,
            (Operand::ControlReg(2), Operand::Immediate(0..=2)) => Work::Serialising,
            _ => Work::Nop,
        };
    }
    let vector = operands.iter().any(|o| is_vector(o));
    let general = operands.iter().any(|o| is_general(o));
    match name {
        "dmb" | "dsb" | "isb" | "sb" | "ssbb" | "pssbb" | "clrex" => Work::Serialising,
        "svc" | "hvc" | "smc" => Work::System,
        "sys" | "sysl" | "msr" | "mrs" => Work::Long,
        "prfm" | "prfum" => Work::Prefetch,
        "movz" | "movn" | "adr" | "adrp" => Work::Copy,
        "orr" if matches!(operands.get(1), Some(Operand::Register(_, 31))) => Work::Copy,
        "udiv" | "sdiv" => Work::Divide,
        "madd" | "msub" | "smaddl" | "smsubl" | "umaddl" | "umsubl" | "smulh" | "umulh" => Work::Multiply,
        "fdiv" | "fsqrt" => Work::FloatDivide,
        "fmul" | "fnmul" | "fmulx" | "fmadd" | "fmsub" | "fnmadd" | "fnmsub" | "fmla" | "fmls" | "fmlal" | "fmlsl"
        | "fcmla" => Work::FloatMultiply,
        "scvtf" | "ucvtf" | "fjcvtzs" | "umov" | "smov" | "bfcvt" => Work::Convert,
        _ if any(name, &["fcvt", "frint"]) => Work::Convert,
        "fmov" | "ins" | "dup" if general => Work::Convert,
        _ if any(name, &["aes", "sha1", "sha256", "sha512", "pmull", "sm3", "sm4", "crc32"]) => Work::Crypto,
        "fadd" | "fsub" | "fcmp" | "fcmpe" | "fccmp" | "fccmpe" | "fabd" | "fcsel" => Work::FloatAdd,
        _ if any(name, &["fmax", "fmin", "fadd", "fcm", "fac"]) => Work::FloatAdd,
        _ if vector
            && (name.contains("mul") || any(name, &["mla", "mls", "smla", "umla", "smls", "umls", "sdot", "udot"])) =>
        {
            Work::Multiply
        }
        _ if vector => Work::Vector,
        _ => Work::Simple,
    }
}

/// In assembly, with places as addresses.
fn text(decoded: &Decoded, place: Option<u64>) -> String {
    let text = decoded.to_string();
    match (text.find('$'), place) {
        (Some(at), Some(place)) => {
            let (before, rest) = text.split_at(at);
            let end = rest.find([',', ' ', ']']).unwrap_or(rest.len());
            format!("{before}{place:#x}{}", rest.get(end..).unwrap_or_default())
        }
        _ => text,
    }
}
