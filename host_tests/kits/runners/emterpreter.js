// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Makes WebAssembly of the bytecode that emscripten's "emterpreter" runs, with the same effects on memory.
//   compiledOnce(folder, wasm, base) -> the module with a function for each of the bytecode
// The wasm has one interpreter, whose loop reads an instruction and runs its part of a large switch. Here
// that loop is followed once for each instruction of the bytecode: what depends on the instruction alone
// (its address, its fields, which part of the switch) is known and leaves no code, the rest is copied.
// Registers stay where they are, in memory. What the bytecode does to wait (saving the whole stack) is left out.
'use strict';
const crypto = require('crypto'), fs = require('fs'), path = require('path');

// the interpreter's variables and globals, in micropython@1.1.8
const PC = 0, BASE = 1, LABEL = 7; // LABEL is ours: the block that a jump back goes to
const BYTECODE_START = 13, ASYNC_STATE = 27; // globals
const SWITCH = 138; // an instruction
const CODE_BYTES = 580640; // of the bytecode; behind it, where the addresses in it are
const LOCALS = [3, 6, 0x7f, 1, 0x7c, 1, 0x7f]; // as those of the interpreter and its parameter, and LABEL

const BLOCK = 0x02, LOOP = 0x03, IF = 0x04, ELSE = 0x05, END = 0x0b, BR = 0x0c, BR_TABLE = 0x0e, RETURN = 0x0f;
const CALL = 0x10, CALL_INDIRECT = 0x11, DROP = 0x1a, LOCAL_GET = 0x20, LOCAL_SET = 0x21, GLOBAL_GET = 0x23;
const GLOBAL_SET = 0x24, I32_LOAD = 0x28, LAST_STORE = 0x3e, I32_CONST = 0x41, I32_ADD = 0x6a, I32_SUB = 0x6b;
const VOID = 0x40; // the type of a block that leaves no value

const FOLDED = { // operators whose result is known where their operands are
  0x45: a => +(a === 0), 0x46: (a, b) => +(a === b), 0x47: (a, b) => +(a !== b), 0x48: (a, b) => +(a < b),
  0x4a: (a, b) => +(a > b), 0x6a: (a, b) => (a + b) | 0, 0x6b: (a, b) => (a - b) | 0, 0x71: (a, b) => a & b,
  0x74: (a, b) => a << b, 0x75: (a, b) => a >> b, 0x76: (a, b) => (a >>> b) | 0,
};
const unary = op => op === 0x45 || op === 0x50 || (op >= 0x67 && op <= 0x69) || (op >= 0x79 && op <= 0x7b) ||
  (op >= 0x8b && op <= 0x91) || (op >= 0x99 && op <= 0x9f) || op >= 0xa7;

function unsigned(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push(value & 127 | 128);
  return [...bytes, value];
}

function signed(value) {
  const bytes = [];
  for (; value < -64 || value > 63; value >>= 7) bytes.push(value & 127 | 128);
  return [...bytes, value & 127];
}

// --- reading a module ---

class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  byte() { return this.bytes[this.at++]; }
  number(isSigned = false) {
    let value = 0, shift = 0, byte;
    do { byte = this.byte(); value |= (byte & 127) << shift; shift += 7; } while (byte & 128);
    return isSigned && shift < 32 && byte & 64 ? value | -1 << shift : isSigned ? value : value >>> 0;
  }
  take(count) { return this.bytes.subarray(this.at, this.at += count); }
  list(one) { return Array.from({ length: this.number() }, () => one()); }
}

function sections(wasm) {
  const reader = new Reader(wasm), found = [];
  for (reader.at = 8; reader.at < wasm.length;) found.push({ id: reader.byte(), body: reader.take(reader.number()) });
  return found;
}

// The statements of a function as trees: {op, args, imm, body, other}.
function trees(code, module, hasResult) {
  const reader = new Reader(code);
  reader.list(() => { reader.number(); reader.byte(); }); // its variables
  const part = () => { // up to `else` or `end`
    const found = [], stack = [];
    const say = node => { if (stack.length) throw Error('a value waits'); found.push(node); };
    const pop = count => stack.splice(stack.length - count, count);
    const called = (node, type, more) => {
      node.args = pop(type.params + more);
      if (type.results) stack.push(node); else say(node);
    };
    for (;;) {
      const op = reader.byte(), node = { op };
      if (op === END || op === ELSE) return { found: [...found, ...stack], op };
      if (op === BLOCK || op === LOOP || op === IF) {
        node.type = reader.byte();
        if (op === IF) node.args = pop(1);
        const inner = part();
        node.body = inner.found;
        node.other = inner.op === ELSE ? part().found : [];
        if (node.type === VOID) say(node); else stack.push(node);
      } else if (op === BR) { node.depth = reader.number(); say(node); }
      else if (op === BR_TABLE) {
        node.depths = reader.list(() => reader.number());
        node.depths.push(reader.number());
        node.args = pop(1);
        say(node);
      } else if (op === RETURN) { node.args = pop(hasResult ? 1 : 0); say(node); }
      else if (op === CALL) { node.imm = reader.number(); called(node, module.types[module.typeOf[node.imm]], 0); }
      else if (op === CALL_INDIRECT) {
        node.imm = reader.number();
        reader.byte();
        called(node, module.types[node.imm], 1);
      } else if (op <= 1) say(node);
      else if (op === LOCAL_GET || op === GLOBAL_GET) { node.imm = reader.number(); stack.push(node); }
      else if (op === LOCAL_SET || op === GLOBAL_SET) { node.imm = reader.number(); node.args = pop(1); say(node); }
      else if (op === DROP) { node.args = pop(1); say(node); }
      else if (op >= I32_LOAD && op <= LAST_STORE) {
        node.imm = [reader.number(), reader.number()];
        node.args = pop(op < 0x36 ? 1 : 2);
        if (op < 0x36) stack.push(node); else say(node);
      } else if (op === I32_CONST) { node.imm = reader.number(true); stack.push(node); }
      else if (op === 0x43 || op === 0x44) { node.imm = [...reader.take(op === 0x43 ? 4 : 8)]; stack.push(node); }
      else if (op >= 0x45 && op <= 0xbf) { node.args = pop(unary(op) ? 1 : 2); stack.push(node); }
      else throw Error(`op ${op}`);
    }
  };
  return part().found;
}

// --- following the interpreter with what is known ---

// The code that leaves a value on the stack.
const plain = value => typeof value === 'number' ? [I32_CONST, ...signed(value)] : value;

const FALLS = -1, ENDS = -2; // how a list of statements ends; else the depth of a br

class Follower {
  constructor(memory, base, interpreter, callee) {
    Object.assign(this, { memory, base, interpreter, callee });
    this.view = new DataView(memory.buffer, memory.byteOffset, memory.length);
  }

  // A number where the value is known, else the code that computes it.
  value(node, known) {
    const { op, imm } = node;
    if (op === I32_CONST) return imm;
    if (op === LOCAL_GET) return known[imm] ?? (imm === BASE ? register(0) : [op, imm]);
    if (op === GLOBAL_GET) return imm === BYTECODE_START ? this.base : imm === ASYNC_STATE ? 0 : [op, imm];
    if (op === 0x43 || op === 0x44) return [op, ...imm];
    const args = node.args.map(a => this.value(a, known));
    if (op === IF) {
      const [then, other] = [node.body, node.other].map(list => list[list.length - 1]);
      if (typeof args[0] === 'number') return this.value(args[0] ? then : other, known);
      return [...args[0], op, node.type, ...this.code(then, known), ELSE, ...this.code(other, known), END];
    }
    const at = args[0] + (op === I32_LOAD || op === 0x2d || op === 0x2f ? imm[1] : 0) - this.base;
    if (typeof args[0] === 'number' && at >= 0 && at < this.memory.length) {
      if (op === I32_LOAD) return this.view.getInt32(at, true);
      if (op === 0x2d) return this.memory[at];
      if (op === 0x2f) return this.view.getUint16(at, true);
    }
    if (FOLDED[op] && args.every(a => typeof a === 'number')) return FOLDED[op](...args);
    if (op === I32_ADD && args[0].offset >= 0 && args[1] >= 0) return register(args[0].offset + args[1]);
    if (op === CALL && imm === this.interpreter) return [op, ...unsigned(this.callee(args[0]))];
    if (args[0] && args[0].offset >= 0 && op >= I32_LOAD && op <= LAST_STORE) { // of a register
      const stored = args.slice(1).flatMap(plain);
      return [LOCAL_GET, BASE, ...stored, op, imm[0], ...unsigned(args[0].offset + imm[1])];
    }
    const code = [].concat(...args.map(plain), op);
    if (op === CALL) return code.concat(unsigned(imm));
    if (op === CALL_INDIRECT) return code.concat(unsigned(imm), 0);
    return imm ? code.concat(...imm.map(unsigned)) : code; // of a load or a store: alignment, offset
  }

  code(node, known) { return plain(this.value(node, known)); }

  // Writes to `out` what a list of statements does; `level` labels are around it, `open` of them in `out`.
  run(list, known, out, level, open) {
    for (const node of list) {
      const { op } = node;
      let end = FALLS;
      if (op === BR) return node.depth;
      if (op === BR_TABLE) {
        const value = this.value(node.args[0], known);
        return node.depths[Math.min(value >>> 0, node.depths.length - 1)];
      }
      if (op === LOCAL_SET) {
        const value = this.value(node.args[0], known);
        known[node.imm] = typeof value === 'number' ? value : undefined;
        if (typeof value !== 'number') out.push(...value, op, node.imm);
      } else if (op === BLOCK || op === LOOP) {
        do end = this.run(node.body, known, out, level + 1, open); while (op === LOOP && end === 0);
        if (end >= 0) end--; // its own end is FALLS
      } else if (op === IF) end = this.branch(node, known, out, level, open);
      else if (op === RETURN) { out.push(...[].concat(...node.args.map(a => this.code(a, known))), op); return ENDS; }
      else if (op === 0) { out.push(op); return ENDS; }
      else if (op === GLOBAL_SET) out.push(...this.code(node.args[0], known), op, node.imm);
      else if (op === DROP) out.push(...this.code(node.args[0], known), op);
      else if (op !== 1) out.push(...this.code(node, known));
      if (end !== FALLS) return end;
    }
    return FALLS;
  }

  branch(node, known, out, level, open) {
    const value = this.value(node.args[0], known);
    if (typeof value === 'number') {
      const end = this.run(value ? node.body : node.other, known, out, level + 1, open);
      return end >= 0 ? end - 1 : end;
    }
    out.push(...value, IF, VOID);
    const falls = [];
    for (const list of [node.body, node.other]) {
      const own = { ...known }, end = this.run(list, own, out, level + 1, open + 1);
      if (end === FALLS || end === 0) falls.push(own);
      else if (end >= level) out.push({ to: own[PC] + 4, open: open + 1 }); // the loop's next instruction
      else if (end !== ENDS) throw Error(`a br ${end} out of an if`);
      if (list === node.body) out.push(ELSE);
    }
    out.push(END);
    if (!falls.length) return ENDS;
    for (const i in falls[0]) if (falls[falls.length - 1][i] !== falls[0][i]) throw Error(`two values of ${i}`);
    Object.assign(known, falls[0]);
    return FALLS;
  }
}

// The address of a register: a load or a store takes the offset, anything else the code.
function register(offset) {
  const added = offset ? [I32_CONST, ...signed(offset), I32_ADD] : [];
  return Object.assign([LOCAL_GET, BASE, ...added], { offset });
}

// --- one function of the bytecode ---

class Translator extends Follower {
  constructor(memory, base, interpreter, callee, body, relocated) {
    super(memory, base, interpreter, callee);
    this.loop = body.findIndex(node => node.op === LOOP);
    this.start = body.slice(0, this.loop);
    this.step = body[this.loop].body;
    this.relocated = relocated;
  }

  // {out, next}: the code of an instruction, and the address of the one that it falls into
  instruction(pc) {
    const at = pc - this.base;
    if (this.memory[at] === SWITCH) return this.table(pc);
    const out = [], known = { [PC]: pc - 4 };
    const end = this.run(this.step, known, out, 0, 0);
    return { out, next: end === ENDS ? 0 : known[PC] + 4 };
  }

  // A jump by a table, which is as long as there are addresses behind the instruction.
  table(pc) {
    const at = pc - this.base, targets = [];
    for (let a = at + 4; this.relocated.has(a); a += 4) targets.push(this.view.getInt32(a, true));
    const field = i => [LOCAL_GET, BASE, I32_LOAD, 2, ...unsigned(this.memory[at + i] << 3)];
    const index = [...field(1), ...field(2), I32_SUB];
    return { out: [{ index, targets: [...targets, pc + 4 * (targets.length + 1)] }], next: 0 };
  }

  body(start) {
    const before = [];
    this.run(this.start, { [PC]: start }, before, 0, 0);
    const found = new Map(), leads = new Set([start + 8]), wanted = [start + 8];
    while (wanted.length) {
      const pc = wanted.pop();
      if (found.has(pc)) continue;
      const done = this.instruction(pc);
      found.set(pc, done);
      const targets = done.out.flatMap(o => typeof o === 'number' ? [] : o.targets || [o.to]);
      targets.forEach(t => leads.add(t));
      wanted.push(...targets, ...(done.next ? [done.next] : []));
    }
    const places = [...found.keys()].sort((a, b) => a - b);
    places.forEach((pc, i) => { // what falls into one that is not behind it jumps
      const done = found.get(pc);
      if (!done.next || done.next === places[i + 1]) return;
      leads.add(done.next);
      done.out.push({ to: done.next, open: 0 });
    });
    const blocks = new Map([...leads].sort((a, b) => a - b).map((pc, i) => [pc, i])), count = blocks.size;
    const bytes = [...LOCALS, ...before, I32_CONST, ...signed(blocks.get(start + 8)), LOCAL_SET, LABEL, LOOP, VOID];
    for (let i = 0; i < count; i++) bytes.push(BLOCK, VOID);
    bytes.push(LOCAL_GET, LABEL, BR_TABLE, ...unsigned(count - 1));
    for (let i = 0; i < count; i++) bytes.push(...unsigned(i));
    let block = -1;
    for (const pc of places) {
      if (blocks.has(pc)) { block++; bytes.push(END); }
      for (const part of found.get(pc).out) {
        if (typeof part === 'number') bytes.push(part);
        else if (part.targets) bytes.push(...this.jumps(part, blocks, block));
        else bytes.push(...jump(blocks.get(part.to), block, count, part.open));
      }
    }
    bytes.push(END, END);
    return Buffer.from(bytes);
  }

  jumps({ index, targets }, blocks, block) {
    const back = [...new Set(targets.map(t => blocks.get(t)))].filter(b => b <= block), bytes = [];
    for (let i = 0; i < back.length; i++) bytes.push(BLOCK, VOID);
    bytes.push(...index, BR_TABLE, ...unsigned(targets.length - 1));
    for (const t of targets) {
      const to = blocks.get(t);
      bytes.push(...unsigned(to > block ? back.length + to - block - 1 : back.indexOf(to)));
    }
    back.forEach((to, i) => bytes.push(END, ...jump(to, block, blocks.size, back.length - 1 - i)));
    return bytes;
  }
}

// Forward by leaving blocks; back by the loop around all of them.
function jump(to, block, count, open) {
  if (to > block) return [BR, ...unsigned(open + to - block - 1)];
  return [I32_CONST, ...signed(to), LOCAL_SET, LABEL, BR, ...unsigned(open + count - 1 - block)];
}

// --- the whole module ---

function read(wasm) {
  const found = sections(wasm), reader = id => new Reader(found.find(s => s.id === id).body);
  const types = reader(1);
  const count = () => types.take(types.number()).length;
  const type = () => (types.byte(), { params: count(), results: count() });
  const module = { found, types: types.list(type) };
  const imports = reader(2);
  const ofImports = imports.list(() => {
    imports.take(imports.number());
    imports.take(imports.number());
    const kind = imports.byte();
    if (kind === 0) return imports.number();
    if (kind === 1) imports.byte();
    const limits = kind === 3 ? null : imports.number();
    imports.number();
    if (limits) imports.number();
    return -1;
  }).filter(type => type >= 0);
  const functions = reader(3);
  module.first = ofImports.length;
  module.typeOf = [...ofImports, ...functions.list(() => functions.number())];
  const code = reader(10);
  module.bodies = code.list(() => code.take(code.number()));
  const exports = reader(7);
  exports.list(() => {
    const name = Buffer.from(exports.take(exports.number())).toString();
    const kind = exports.byte(), index = exports.number();
    if (kind === 0 && name === 'emterpret') module.interpreter = index;
  });
  return module;
}

function compiled(wasm, bytecode, base) {
  const module = read(wasm);
  const memory = Buffer.from(bytecode.subarray(0, CODE_BYTES)), relocated = new Set();
  for (let at = CODE_BYTES; at < bytecode.length; at += 4) {
    const place = bytecode.readUInt32LE(at);
    relocated.add(place);
    memory.writeInt32LE(memory.readInt32LE(place) + base | 0, place);
  }
  const own = new Map(), wanted = [], firstOwn = module.typeOf.length;
  const callee = address => {
    if (!own.has(address)) { own.set(address, firstOwn + own.size); wanted.push(address); }
    return own.get(address);
  };
  const { first, interpreter, bodies } = module;
  const tree = i => trees(bodies[i], module, module.types[module.typeOf[first + i]].results);
  const translator = new Translator(memory, base, interpreter, callee, tree(interpreter - first), relocated);
  const calls = Buffer.from([CALL, ...unsigned(interpreter)]);
  const code = bodies.map((body, i) => { // those that enter the bytecode
    if (first + i === interpreter || !Buffer.from(body).includes(calls)) return body;
    const out = [];
    translator.run(tree(i), {}, out, 0, 0);
    return Buffer.from([0, ...out, END]);
  });
  for (let i = 0; i < wanted.length; i++) code.push(translator.body(wanted[i]));
  const type = module.types.findIndex(t => !t.params && !t.results);
  const functions = [...module.typeOf.slice(first), ...wanted.map(() => type)];
  const parts = [wasm.subarray(0, 8)];
  for (const { id, body } of module.found) {
    let now = [body];
    if (id === 3) now = [Buffer.from([...unsigned(functions.length), ...functions.flatMap(unsigned)])];
    if (id === 10) {
      now = [Buffer.from(unsigned(code.length)), ...code.flatMap(c => [Buffer.from(unsigned(c.length)), c])];
    }
    const length = now.reduce((sum, b) => sum + b.length, 0);
    parts.push(Buffer.from([id, ...unsigned(length)]), ...now);
  }
  return Buffer.concat(parts);
}

// The same for the package in a folder, whose file of it is made when one is wanted first.
function compiledOnce(folder, wasm, base) {
  const bytecode = fs.readFileSync(path.join(folder, 'micropython.binary'));
  const of = crypto.createHash('sha256');
  [fs.readFileSync(__filename), wasm, bytecode, String(base)].forEach(part => of.update(part));
  const file = path.join(folder, `compiled-${of.digest('hex').slice(0, 16)}.wasm`);
  if (!fs.existsSync(file)) {
    fs.writeFileSync(`${file}.${process.pid}`, compiled(Buffer.from(wasm), bytecode, base));
    fs.renameSync(`${file}.${process.pid}`, file); // whole when it has this name
  }
  return fs.readFileSync(file);
}

module.exports = { compiledOnce };
