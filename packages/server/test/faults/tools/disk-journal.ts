/**
 * Replays what a process wrote and synced up to any point, to simulate what the disk might contain after a power cut at
 * that point.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readCompletedCalls } from './tracing.ts';

type Write = { readonly offset: number; readonly bytes: Buffer } | { readonly truncateTo: number };

type Step =
  | { readonly kind: 'write'; readonly file: string; readonly write: Write }
  | { readonly kind: 'sync'; readonly file: string }
  | { readonly kind: 'answer'; readonly eventUUIDs: readonly string[] };

/** The options with which strace logs everything that `readJournal` needs. */
export const journalOptions = ['-xx', '-s', '2000000', '-e', 'trace=pwrite64,ftruncate,fsync,fdatasync,write,writev'];

const unhex = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex');
const nameOf = (hexed: string): string => (hexed.startsWith('\\x') ? unhex(hexed).toString() : hexed);
const okStatusHex = Buffer.from('HTTP/1.1 200').toString('hex').replace(/../g, '\\x$&');

/** Reads the steps in an strace log, in the order in which they ended. */
export const readJournal = (log: string, path: string): Step[] => {
  const files = new Map(['', '-wal'].map((end) => [path + end, basename(path) + end]));
  return readCompletedCalls(log).flatMap(({ text }): Step[] => {
    const [, call, name = '', rest = ''] = /^(\w+)\(\d+<([^>]*)>(.*)$/.exec(text) ?? [];
    if (call === 'write' || call === 'writev') {
      if (!text.includes(okStatusHex)) return [];
      const responseText = [...text.matchAll(/"((?:\\x[\da-f]{2})+)"/g)]
        .map((match) => unhex(match[1] as string))
        .join('');
      return [
        {
          kind: 'answer',
          eventUUIDs: [...responseText.matchAll(/"eventUUID":"([^"]+)"/g)].map((match) => match[1] as string),
        },
      ];
    }
    const file = files.get(nameOf(name));
    if (file === undefined || / = -1 /.test(rest)) return [];
    if (call === 'fsync' || call === 'fdatasync') return [{ kind: 'sync', file }];
    if (call === 'ftruncate')
      return [{ kind: 'write', file, write: { truncateTo: Number(/^, (\d+)/.exec(rest)?.[1]) } }];
    const [, hex = '', bytes, offset] = /^, "((?:\\x[\da-f]{2})*)", (\d+), (\d+)\)/.exec(rest) ?? [];
    const written = unhex(hex);
    if (written.length !== Number(bytes)) throw new Error('the strace log truncates a write');
    return [{ kind: 'write', file, write: { offset: Number(offset), bytes: written } }];
  });
};

const sectorBytes = 512;

/** The content of one file. */
class DiskFile {
  content: Buffer;
  length: number;
  constructor(content: Buffer) {
    this.content = Buffer.from(content);
    this.length = content.length;
  }
  apply(write: Write): void {
    if ('truncateTo' in write) {
      if (write.truncateTo < this.length) this.content.fill(0, write.truncateTo, this.length);
      this.grow(write.truncateTo);
      this.length = write.truncateTo;
      return;
    }
    const end = write.offset + write.bytes.length;
    this.grow(end);
    write.bytes.copy(this.content, write.offset);
    this.length = Math.max(this.length, end);
  }
  private grow(length: number): void {
    if (length <= this.content.length) return;
    const grown = Buffer.alloc(Math.max(length, this.content.length * 2));
    this.content.copy(grown);
    this.content = grown;
  }
}

/** Returns random sectors of a write, as if the power failed during it. */
const tearWrite = (write: Write, random: () => number): Write[] => {
  if ('truncateTo' in write) return [write];
  const pieces: Write[] = [];
  for (let from = 0; from < write.bytes.length; ) {
    const to = Math.min(write.bytes.length, from + sectorBytes - ((write.offset + from) % sectorBytes));
    if (random() < 0.5) pieces.push({ offset: write.offset + from, bytes: write.bytes.subarray(from, to) });
    from = to;
  }
  return pieces;
};

/**
 * Replays a journal up to each cut; cuts must be in ascending order. A cut creates a folder with what the disk might
 * contain: everything synced, and some of the unsynced writes, whole or torn.
 */
export const createDisk = (initial: ReadonlyMap<string, Buffer>, steps: readonly Step[], random: () => number) => {
  const durable = new Map([...initial].map(([name, content]) => [name, new DiskFile(content)]));
  const pending = new Map<string, Write[]>();
  const acknowledged: string[] = [];
  let position = 0;
  const fileOf = (name: string): DiskFile => {
    const file = durable.get(name) ?? new DiskFile(Buffer.alloc(0));
    durable.set(name, file);
    return file;
  };
  const play = (step: Step) => {
    if (step.kind === 'answer') acknowledged.push(...step.eventUUIDs);
    else if (step.kind === 'write') pending.set(step.file, [...(pending.get(step.file) ?? []), step.write]);
    else {
      for (const write of pending.get(step.file) ?? []) fileOf(step.file).apply(write);
      pending.delete(step.file);
    }
  };
  return {
    /** The eventUUIDs that were acknowledged before the last cut. */
    acknowledged: acknowledged as readonly string[],
    cut(at: number, folder: string): { unsynced: number } {
      for (; position < at; position += 1) play(steps[position] as Step);
      mkdirSync(folder);
      let unsynced = 0;
      for (const name of new Set([...durable.keys(), ...pending.keys()])) {
        const { content, length } = fileOf(name);
        const left = new DiskFile(content.subarray(0, length));
        for (const write of pending.get(name) ?? []) {
          unsynced += 1;
          const chance = random();
          if (chance < 0.4) left.apply(write);
          else if (chance < 0.7) for (const piece of tearWrite(write, random)) left.apply(piece);
        }
        writeFileSync(join(folder, name), left.content.subarray(0, left.length));
      }
      return { unsynced };
    },
  };
};

export const readDatabaseFile = (path: string): Map<string, Buffer> => new Map([[basename(path), readFileSync(path)]]);
