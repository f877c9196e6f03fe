// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The SHA-256 engine (sha256.h; FIPS 180-4) and the one-time programmable memory as a board without
// keys has it.
#include "board.h"

enum { RESULT = 0x00, DATA_IN = 0x20, CONTROL = 0x2c, SOURCE = 0x34 };
static const u32 FRACTIONS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const u32 START[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static u32 ror(u32 x, int n) { return x >> n | x << (32 - n); }

static void hash_block(u32 *hash, const u8 *p) {
    u32 w[64], s[8];
    for (int i = 0; i < 16; i++) {
        memcpy(&w[i], p + 4 * i, 4);
        w[i] = __builtin_bswap32(w[i]);
    }
    for (int i = 16; i < 64; i++) {
        u32 a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + w[i - 7] +
               (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
    }
    memcpy(s, hash, sizeof s);
    for (int i = 0; i < 64; i++) {
        u32 a = s[0], e = s[4], choice = (e & s[5]) ^ (~e & s[6]);
        u32 majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
        u32 t1 = s[7] + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + choice + FRACTIONS[i] + w[i];
        u32 t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) hash[i] += s[i];
}

u64 sha_read(int device, u32 o, u64 stored) {
    if (o < DATA_IN) return __builtin_bswap32(board.sha.hash[7 - (o - RESULT) / 4]);
    return o == CONTROL ? stored | 1 : o == SOURCE ? stored & 1 : stored; // done
}

void sha_write(int device, u32 o, u64 v) {
    Sha *s = &board.sha;
    if (o == DATA_IN) {
        memcpy(s->block + s->block_n, &v, 4);
        s->block_n = (s->block_n + 4) % 64;
        if (!s->block_n) hash_block(s->hash, s->block);
    } else if (o == CONTROL && v & 1) {
        memcpy(s->hash, START, sizeof START);
        s->block_n = 0;
    }
}

// Enough for reading: ready at once, no error, bytes that depend on the address only (otp.h).
u64 otp_read(int device, u32 o, u64 stored) {
    u32 x = REG(OTP, 0x30) * 2654435761u + 0x9e3779b9u;
    x = (x ^ x >> 15) * 2246822519u;
    switch (o) {
    case 0x38: case 0x3c: case 0x48: case 0xac: return 1;
    case 0x60: case 0x64: return 0;
    case 0x24: return x >> 13 & 0xff;
    }
    return stored;
}
