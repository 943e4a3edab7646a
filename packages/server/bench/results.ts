/** RESULTS.md: the latest figures, each row with its commit. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { Options, Row } from './question.ts';
import { table, whole } from './table.ts';

const page = new URL('RESULTS.md', import.meta.url);

export const machine = `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 1024 ** 3)} GiB`;

/** The number of processes that want a core. If it exceeds the number of cores, the machine is busy. */
export const busyProcesses = (): string => `${loadavg()[0]?.toFixed(1)} processes busy`;

const git = (...args: string[]): string => execFileSync('git', args, { cwd: new URL('.', import.meta.url) }).toString();

/** The commit that is checked out, with a + if the packages have changed since. */
const commit = (): string => {
  const changed = git('status', '--porcelain', '--', '../..', ':(exclude)RESULTS.md').trim() !== '';
  return git('rev-parse', '--short', 'HEAD').trim() + (changed ? '+' : '');
};

const introduction = `# How fast it is

Written by \`npm run bench -- --save\`: each row is what its question answered last with so many events stored beforehand, at
the commit and on the day that it names. The load comes from the same machine, and what is compared was measured in turns.
\`npm run bench -- <question>\` measures one again, \`--quick\` all of them in short. "Floor" is what cannot be beaten, or
what it is not to differ from; each question's file says what.
`;
const figuresHead = ['question', 'measured', 'floor', 'ours', 'ratio', 'bar', 'events stored', 'commit', 'day'];
const profileHead = ['thread', 'function', 'share of its time', 'commit', 'day'];

const rowsUnder = (title: string): string[][] => {
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

/** Replaces the rows of the same measurement over as much history; a profile replaces that of its commit. */
export const save = (question: string, rows: readonly Row[], { events }: Options): void => {
  const day = new Date().toISOString().slice(0, 10);
  let figures = rowsUnder('Figures');
  let profiles = rowsUnder('The dearest functions');
  if (question === 'profile') {
    const renewed = rows.map(({ measured, ours }) => [...measured.split(': '), ours, commit(), day]);
    profiles = [...renewed, ...profiles.filter((row) => row[3] !== commit())];
  } else {
    const renewed = rows.map(({ measured, floor = '', ours, ratio = '', bar }) => [
      ...[question, measured, floor, ours, ratio, bar],
      ...[whole(events), commit(), day],
    ]);
    const keyOf = (row: readonly string[]) => [row[0], row[1], row[6]].join('|');
    const keys = new Set(renewed.map(keyOf));
    const first = figures.findIndex((row) => row[0] === question);
    const others = figures.filter((row) => !keys.has(keyOf(row)));
    const at = first < 0 ? others.length : Math.min(first, others.length);
    figures = others.toSpliced(at, 0, ...renewed);
  }
  const sections = [
    introduction,
    `Measured last on: ${machine}.\n`,
    `## Figures\n\n${table(figuresHead, figures, 2)}\n`,
    `## The dearest functions\n\nBy the time spent in each itself, while single events come in over 64 connections (\`npm run bench -- profile --save\`).\n\n${table(profileHead, profiles, 2)}\n`,
  ];
  writeFileSync(page, sections.join('\n'));
};
