// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Every instruction that the decoder knows, once. RV64IMAFDC without supervisor mode: what the
// K210's two Rocket cores run (RISC-V unprivileged specification 2.2). HOOK stands where the
// profiler wants to be asked first.
#pragma once

#define OPS_INT(X) \
    X(DECODE) \
    X(ILLEGAL) X(HOOK) X(LUI) X(AUIPC) X(JAL) X(JALR) X(BEQ) X(BNE) X(BLT) X(BGE) X(BLTU) X(BGEU) \
        X(LB) X(LH) X(LW) X(LD) X(LBU) X(LHU) X(LWU) X(SB) X(SH) X(SW) X(SD) X(ADDI) X(SLTI) \
            X(SLTIU) X(XORI) X(ORI) X(ANDI) X(SLLI) X(SRLI) X(SRAI) X(ADD) X(SUB) X(SLL) X(SLT) \
                X(SLTU) X(XOR) X(SRL) X(SRA) X(OR) X(AND) X(ADDIW) X(SLLIW) X(SRLIW) X(SRAIW) \
                    X(ADDW) X(SUBW) X(SLLW) X(SRLW) X(SRAW) X(MUL) X(MULH) X(MULHSU) X(MULHU) \
                        X(DIV) X(DIVU) X(REM) X(REMU) X(MULW) X(DIVW) X(DIVUW) X(REMW) X(REMUW)

#define OPS_SYSTEM(X) \
    X(FENCE) \
    X(FENCEI) X(ECALL) X(EBREAK) X(MRET) X(WFI) X(CSRRW) X(CSRRS) X(CSRRC) X(CSRRWI) X(CSRRSI) \
        X(CSRRCI)

#define OPS_ATOMIC(X) \
    X(LRW) \
    X(SCW) X(AMOSWAPW) X(AMOADDW) X(AMOXORW) X(AMOANDW) X(AMOORW) X(AMOMINW) X(AMOMAXW) \
        X(AMOMINUW) X(AMOMAXUW) X(LRD) X(SCD) X(AMOSWAPD) X(AMOADDD) X(AMOXORD) X(AMOANDD) \
            X(AMOORD) X(AMOMIND) X(AMOMAXD) X(AMOMINUD) X(AMOMAXUD)

// the result of these is a floating-point register
#define OPS_TO_FLOAT(X) \
    X(FLW) \
    X(FLD) X(FMADDS) X(FMSUBS) X(FNMSUBS) X(FNMADDS) X(FADDS) X(FSUBS) X(FMULS) X(FDIVS) X(FSQRTS) \
        X(FSGNJS) X(FSGNJNS) X(FSGNJXS) X(FMINS) X(FMAXS) X(FCVTSW) X(FCVTSWU) X(FCVTSL) \
            X(FCVTSLU) X(FMVWX) X(FMADDD) X(FMSUBD) X(FNMSUBD) X(FNMADDD) X(FADDD) X(FSUBD) \
                X(FMULD) X(FDIVD) X(FSQRTD) X(FSGNJD) X(FSGNJND) X(FSGNJXD) X(FMIND) X(FMAXD) \
                    X(FCVTSD) X(FCVTDS) X(FCVTDW) X(FCVTDWU) X(FCVTDL) X(FCVTDLU) X(FMVDX)

// floating point that stores, compares or converts to an integer register
#define OPS_FROM_FLOAT(X) \
    X(FSW) \
    X(FSD) X(FCVTWS) X(FCVTWUS) X(FCVTLS) X(FCVTLUS) X(FMVXW) X(FEQS) X(FLTS) X(FLES) X(FCLASSS) \
        X(FEQD) X(FLTD) X(FLED) X(FCLASSD) X(FCVTWD) X(FCVTWUD) X(FCVTLD) X(FCVTLUD) X(FMVXD)

#define OPS(X) OPS_INT(X) OPS_SYSTEM(X) OPS_ATOMIC(X) OPS_TO_FLOAT(X) OPS_FROM_FLOAT(X)

enum {
#define X(name) OP_##name,
    OPS(X)
#undef X
        OP_COUNT
};
