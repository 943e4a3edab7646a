/** Maintains RESULTS.md: the latest figures, each row with its commit. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { Options, Row } from './benchmark.ts';
import { table, whole } from './table.ts';

const page = new URL('RESULTS.md', import.meta.url);

export const machine = `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 1024 ** 3)} GiB`;

/** The number of runnable processes. Above the number of cores, the machine is busy. */
export const busyProcesses = (): string => `${loadavg()[0]?.toFixed(1)} processes busy`;

const git = (...args: string[]): string => execFileSync('git', args, { cwd: new URL('.', import.meta.url) }).toString();

/** The current commit, with a + if the packages have uncommitted changes. */
const commit = (): string => {
  const changed = git('status', '--porcelain', '--', '../..', ':(exclude)RESULTS.md').trim() !== '';
  return git('rev-parse', '--short', 'HEAD').trim() + (changed ? '+' : '');
};

const introduction = `# Benchmark results

\`npm run bench -- --save\` writes this file. Each row is the latest result of a benchmark with that number of events
stored before the measurement, with its commit and date. The load comes from the same machine. Compared figures were
measured alternately.

Run \`npm run bench -- <benchmark>\` to measure one again, or add \`--quick\` for short forms of all. "Floor" is the best
possible result, or the one to match; the file of each benchmark explains it. "Bar" is the target.
`;
const figuresHead = ['benchmark', 'measured', 'floor', 'ours', 'ratio', 'bar', 'events stored', 'commit', 'day'];
const profileHead = ['thread', 'function', 'share of its time', 'commit', 'day'];

const readRows = (title: string): string[][] => {
  const text = existsSync(page) ? readFileSync(page, 'utf8') : '';
  const [, section = ''] = text.split(`## ${title}\n`);
  return (section.split('\n## ')[0] as string)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
};

/**
 * Replaces earlier rows for the same measurement with the same number of events. A profile replaces the same commit's
 * earlier profile.
 */
export const save = (benchmark: string, rows: readonly Row[], { events }: Options): void => {
  const day = new Date().toISOString().slice(0, 10);
  let figures = readRows('Figures');
  let profiles = readRows('Most expensive functions');
  if (benchmark === 'profile') {
    const newRows = rows.map(({ measured, ours }) => [...measured.split(': '), ours, commit(), day]);
    profiles = [...newRows, ...profiles.filter((row) => row[3] !== commit())];
  } else {
    const newRows = rows.map(({ measured, floor = '', ours, ratio = '', bar }) => [
      ...[benchmark, measured, floor, ours, ratio, bar],
      ...[whole(events), commit(), day],
    ]);
    const toKey = (row: readonly string[]) => [row[0], row[1], row[6]].join('|');
    const keys = new Set(newRows.map(toKey));
    const first = figures.findIndex((row) => row[0] === benchmark);
    const others = figures.filter((row) => !keys.has(toKey(row)));
    const at = first < 0 ? others.length : Math.min(first, others.length);
    figures = others.toSpliced(at, 0, ...newRows);
  }
  const sections = [
    introduction,
    `Last measured on: ${machine}.\n`,
    `## Figures\n\n${table(figuresHead, figures, 2)}\n`,
    `## Most expensive functions\n\nBy self time, while single events arrive over 64 connections (\`npm run bench -- profile --save\`).\n\n${table(profileHead, profiles, 2)}\n`,
  ];
  writeFileSync(page, sections.join('\n'));
};
