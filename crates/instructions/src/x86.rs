//! x86-64: what iced-x86 decodes, in our terms.

use crate::instruction::{Assign, Flow, Instruction, Memory, Work, hash};
use crate::{Register, Registers};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, InstructionInfoFactory, IntelFormatter, Mnemonic, OpAccess, OpKind,
};

pub(crate) fn decode(bytes: &[u8], address: u64) -> Vec<Instruction> {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_space_after_operand_separator(true);
    options.set_branch_leading_zeros(false);
    options.set_small_hex_numbers_in_decimal(true);
    options.set_show_branch_size(false);
    options.set_signed_immediate_operands(true);
    let mut factory = InstructionInfoFactory::new();
    let mut all = Vec::with_capacity(bytes.len() / 4);
    let mut decoded = iced_x86::Instruction::default();
    while decoder.can_decode() {
        let from = decoder.position();
        decoder.decode_out(&mut decoded);
        if decoded.is_invalid() {
            // One byte: what follows may be instructions again.
            let _ = decoder.set_position(from + 1);
            let at = address.wrapping_add(from as u64);
            decoder.set_ip(at.wrapping_add(1));
            all.push(Instruction::unknown(at, bytes.get(from..=from).unwrap_or(&[])));
            continue;
        }
        let mut text = String::new();
        formatter.format(&decoded, &mut text);
        all.push(instruction(&decoded, &mut factory, text));
    }
    all
}

/// Registers that a function may change for its caller by the System V convention: rax, rcx, rdx, rsi, rdi, r8 to r11, flags, vectors.
fn clobbered() -> Registers {
    let general = [0, 1, 2, 6, 7, 8, 9, 10, 11].into_iter().filter_map(Register::general);
    general.chain((0..32).filter_map(Register::vector)).chain([Register::FLAGS, Register::OTHER]).collect()
}

fn register(register: iced_x86::Register) -> Option<Register> {
    if register == iced_x86::Register::None || register.is_ip() || register.is_segment_register() {
        return None;
    }
    let full = register.full_register();
    let number = u8::try_from(full.number()).ok()?;
    if full.is_gpr() {
        Register::general(number)
    } else if full.is_vector_register() {
        Register::vector(number)
    } else {
        Some(Register::OTHER)
    }
}

fn instruction(x: &iced_x86::Instruction, factory: &mut InstructionInfoFactory, text: String) -> Instruction {
    let info = factory.info(x);
    let mut reads = Registers::default();
    let mut writes = Registers::default();
    for used in info.used_registers() {
        let Some(register) = register(used.register()) else { continue };
        let (is_read, is_written) = access(used.access());
        if is_read {
            reads.insert(register);
        }
        if is_written {
            writes.insert(register);
        }
        // What is written sometimes keeps its old value otherwise.
        if matches!(used.access(), OpAccess::CondWrite | OpAccess::ReadCondWrite) {
            reads.insert(register);
        }
    }
    if x.rflags_read() != 0 {
        reads.insert(Register::FLAGS);
    }
    if x.rflags_modified() != 0 {
        writes.insert(Register::FLAGS);
    }
    let memory = memory(x, info.used_memory());
    let flow = match x.flow_control() {
        FlowControl::UnconditionalBranch => Flow::Jump,
        FlowControl::IndirectBranch => Flow::Indirect,
        FlowControl::ConditionalBranch => Flow::Branch,
        FlowControl::Return => Flow::Return,
        FlowControl::IndirectCall => Flow::IndirectCall,
        FlowControl::Call if x.is_call_near() => Flow::Call,
        FlowControl::Exception | FlowControl::Interrupt if x.mnemonic() != Mnemonic::Int => Flow::Stop,
        _ if x.mnemonic() == Mnemonic::Hlt => Flow::Stop,
        _ => Flow::Next,
    };
    if matches!(flow, Flow::Call | Flow::IndirectCall) {
        writes = writes.union(clobbered());
    }
    let target = (matches!(flow, Flow::Jump | Flow::Branch | Flow::Call) && x.op0_kind() == OpKind::NearBranch64)
        .then(|| x.near_branch64());
    let mut operands = Vec::new();
    let mut constants = Vec::new();
    for (at, kind) in x.op_kinds().enumerate() {
        let at = at as u32;
        match kind {
            OpKind::Register => operands.extend(register(x.op_register(at))),
            OpKind::Memory => {
                operands.extend([x.memory_base(), x.memory_index()].into_iter().filter_map(register));
                constants.push(x.memory_index_scale() as i64);
                if !x.is_ip_rel_memory_operand() {
                    constants.push(small(x.memory_displacement64() as i64));
                }
            }
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => {}
            _ => constants.extend(x.try_immediate(at).ok().map(|value| small(value as i64))),
        }
    }
    let work = work(x, memory.as_ref());
    Instruction {
        address: x.ip(),
        length: x.len() as u8,
        work,
        flow,
        reads,
        writes,
        assigns: assigns(x),
        memory,
        target,
        form: hash(&(x.code() as u32, x.has_lock_prefix(), x.has_rep_prefix(), x.has_repne_prefix(), &constants)),
        name: hash(&(x.mnemonic() as u32)),
        operands,
        text,
    }
}

/// A constant, unless it may be an address.
fn small(value: i64) -> i64 {
    if value.unsigned_abs() < 0x1_0000 { value } else { i64::MAX }
}

fn access(access: OpAccess) -> (bool, bool) {
    match access {
        OpAccess::Read | OpAccess::CondRead => (true, false),
        OpAccess::Write | OpAccess::CondWrite => (false, true),
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
        OpAccess::None | OpAccess::NoMemAccess => (false, false),
    }
}

fn memory(x: &iced_x86::Instruction, used: &[iced_x86::UsedMemory]) -> Option<Memory> {
    let mut found: Option<Memory> = None;
    for place in used {
        let (reads, writes) = access(place.access());
        if !reads && !writes {
            continue;
        }
        if let Some(memory) = &mut found {
            memory.reads |= reads;
            memory.writes |= writes;
            continue;
        }
        let base = register(place.base());
        let index = register(place.index());
        let nowhere = base.is_none() && index.is_none();
        found = Some(Memory {
            base,
            index: index.filter(|r| r.column().is_some()),
            scale: u8::try_from(place.scale()).unwrap_or(1),
            index_bits: if place.index().size() == 4 { 32 } else { 64 },
            displacement: place.displacement() as i64,
            absolute: nowhere.then(|| place.displacement()),
            of_thread: matches!(place.segment(), iced_x86::Register::FS | iced_x86::Register::GS),
            size: if x.has_rep_prefix() || x.has_repne_prefix() {
                0
            } else {
                u16::try_from(place.memory_size().size()).unwrap_or(0)
            },
            reads,
            writes,
        });
    }
    found
}

fn assigns(x: &iced_x86::Instruction) -> [Option<Assign>; 2] {
    let bits_of = |r: iced_x86::Register| match r.size() {
        8 => Some(64),
        4 => Some(32),
        _ => None,
    };
    let is_general =
        |at: u32| x.try_op_kind(at).is_ok_and(|kind| kind == OpKind::Register) && x.op_register(at).is_gpr();
    let assign = |from: iced_x86::Register, add: i64, bits: Option<u8>| {
        let to = x.op0_register();
        Some(Assign { to: register(to)?, from: register(from)?, add, bits: bits?.min(bits_of(to)?) })
    };
    let first = match x.mnemonic() {
        Mnemonic::Add | Mnemonic::Sub
            if is_general(0) && x.op1_kind() != OpKind::Register && x.op1_kind() != OpKind::Memory =>
        {
            x.try_immediate(1).ok().and_then(|value| {
                let value = value as i64;
                let add = if x.mnemonic() == Mnemonic::Add { value } else { value.wrapping_neg() };
                assign(x.op0_register(), add, bits_of(x.op0_register()))
            })
        }
        Mnemonic::Inc if is_general(0) => assign(x.op0_register(), 1, bits_of(x.op0_register())),
        Mnemonic::Dec if is_general(0) => assign(x.op0_register(), -1, bits_of(x.op0_register())),
        Mnemonic::Lea if x.op1_kind() == OpKind::Memory && !x.is_ip_rel_memory_operand() => {
            let (base, index) = (x.memory_base(), x.memory_index());
            let add = x.memory_displacement64() as i64;
            match (base, index) {
                (base, iced_x86::Register::None) if base != iced_x86::Register::None => {
                    assign(base, add, bits_of(base))
                }
                (iced_x86::Register::None, index) if x.memory_index_scale() == 1 => assign(index, add, bits_of(index)),
                _ => None,
            }
        }
        Mnemonic::Mov if is_general(0) && is_general(1) => assign(x.op1_register(), 0, bits_of(x.op1_register())),
        Mnemonic::Movsxd if is_general(0) && is_general(1) && x.op1_register().size() == 4 => {
            assign(x.op1_register(), 0, Some(32))
        }
        _ => None,
    };
    let stack = iced_x86::Register::RSP;
    let moved = match x.mnemonic() {
        Mnemonic::Push | Mnemonic::Pop | Mnemonic::Pushfq | Mnemonic::Popfq => i64::from(x.stack_pointer_increment()),
        _ => 0,
    };
    let pops_itself = x.mnemonic() == Mnemonic::Pop && x.op0_kind() == OpKind::Register && x.op0_register() == stack;
    let second = (moved != 0 && !pops_itself)
        .then(|| register(stack).map(|r| Assign { to: r, from: r, add: moved, bits: 64 }))
        .flatten()
        .or_else(|| {
            // A call comes back with the stack as it was.
            let calls = matches!(x.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
                && (x.is_call_near() || x.is_call_near_indirect());
            calls.then(|| register(stack).map(|r| Assign { to: r, from: r, add: 0, bits: 64 })).flatten()
        });
    [first, second]
}

fn work(x: &iced_x86::Instruction, memory: Option<&Memory>) -> Work {
    let mnemonic = format!("{:?}", x.mnemonic()).to_ascii_lowercase();
    // AVX's names are those of SSE with a v before.
    let name = match mnemonic.strip_prefix('v') {
        Some(rest) if !matches!(x.encoding(), iced_x86::EncodingKind::Legacy) => rest,
        _ => mnemonic.as_str(),
    };
    let has_memory = memory.is_some();
    let exchanges = x.mnemonic() == Mnemonic::Xchg && has_memory;
    if x.has_lock_prefix() || exchanges {
        return Work::Atomic;
    }
    match x.flow_control() {
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch | FlowControl::ConditionalBranch => {
            return Work::Branch;
        }
        FlowControl::Return if x.mnemonic() == Mnemonic::Ret => return Work::Return,
        FlowControl::Call | FlowControl::IndirectCall if x.is_call_near() || x.is_call_near_indirect() => {
            return Work::Call;
        }
        FlowControl::Next => {}
        _ => return Work::System,
    }
    let vector = x
        .op_kinds()
        .enumerate()
        .any(|(at, kind)| kind == OpKind::Register && x.op_register(at as u32).is_vector_register());
    let general =
        x.op_kinds().enumerate().any(|(at, kind)| kind == OpKind::Register && x.op_register(at as u32).is_gpr());
    let x87 = x.op_kinds().enumerate().any(|(at, kind)| kind == OpKind::Register && x.op_register(at as u32).is_st())
        || x.fpu_stack_increment_info().increment() != 0;
    match name {
        "nop" | "endbr64" | "endbr32" | "fnop" | "reservednop" => Work::Nop,
        "pause" | "tpause" | "umwait" => Work::Pause,
        "mfence" | "lfence" | "sfence" | "cpuid" | "serialize" | "iretq" | "invlpg" | "wbinvd" | "mwait"
        | "monitor" => Work::Serialising,
        "rdtsc" | "rdtscp" | "rdpmc" | "rdrand" | "rdseed" | "xgetbv" | "clflush" | "clflushopt" | "clwb"
        | "cldemote" => Work::Long,
        "xsave" | "xsavec" | "xsaves" | "xsaveopt" | "xrstor" | "xrstors" | "fxsave" | "fxrstor" | "fxsave64"
        | "fxrstor64" | "xsave64" | "xsavec64" | "xrstor64" | "emms" | "enter" | "rdfsbase" | "wrfsbase" | "wrpkru"
        | "rdpkru" | "cmpxchg16b" | "cmpxchg8b" | "xlatb" => Work::Long,
        "hlt" | "in" | "out" | "wrmsr" | "rdmsr" | "swapgs" => Work::System,
        "div" | "idiv" => Work::Divide,
        "imul" | "mul" | "mulx" => Work::Multiply,
        "mov" | "movabs" | "movzx" | "movsx" | "movsxd" | "cdqe" | "movaps" | "movups" | "movdqa" | "movdqu"
        | "movapd" | "movupd" | "movdqa64" | "movdqu64" | "movdqa32" | "movdqu32" | "push" | "pop" | "xchg" => {
            Work::Copy
        }
        _ if name.starts_with("prefetch") => Work::Prefetch,
        _ if x.is_string_instruction() || x.is_vsib() => Work::Long,
        "fsin" | "fcos" | "fsincos" | "fptan" | "fpatan" | "f2xm1" | "fyl2x" | "fyl2xp1" | "fprem" | "fprem1"
        | "fscale" | "fbld" | "fbstp" | "fldcw" | "fnstcw" | "fnstenv" | "fldenv" | "fnsave" | "frstor" | "ldmxcsr"
        | "stmxcsr" => Work::Long,
        "fdiv" | "fdivp" | "fdivr" | "fdivrp" | "fidiv" | "fidivr" | "fsqrt" => Work::FloatDivide,
        "fmul" | "fmulp" | "fimul" => Work::FloatMultiply,
        _ if x87 => Work::FloatAdd,
        _ if vector => of_vectors(name, general),
        _ => Work::Simple,
    }
}

/// Instructions with vector registers, by their names without the v of AVX.
fn of_vectors(name: &str, general: bool) -> Work {
    let float = ["ps", "pd", "ss", "sd", "ph", "sh"].iter().any(|end| name.ends_with(end));
    if general || name.starts_with("cvt") {
        // To and from general registers, too.
        return Work::Convert;
    }
    if name.starts_with("aes")
        || name.starts_with("sha") && !name.starts_with("shuf")
        || name.starts_with("pclmul")
        || name.starts_with("gf2p8")
    {
        return Work::Crypto;
    }
    if float {
        if name.starts_with("div") || name.starts_with("sqrt") {
            return Work::FloatDivide;
        }
        if name.starts_with("mul")
            || name.starts_with("fm")
            || name.starts_with("fnm")
            || name.starts_with("dp")
            || name.starts_with("round")
        {
            return Work::FloatMultiply;
        }
        if ["add", "sub", "hadd", "hsub", "min", "max", "cmp", "comis", "ucomis"]
            .iter()
            .any(|start| name.starts_with(start))
        {
            return Work::FloatAdd;
        }
    }
    if name.starts_with("pmul") || name.starts_with("pmadd") || name.starts_with("psadbw") {
        return Work::Multiply;
    }
    Work::Vector
}
