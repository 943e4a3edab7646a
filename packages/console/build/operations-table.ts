/**
 * In the bundle, replaces the contract's operations table with one that has only the fields that the client reads. The
 * full table also has the schemas, which would add 70 KB of Zod to the page.
 */
import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import type { Plugin } from 'esbuild';

/** An operation's name; `?` marks a GET, `!` a slow operation. */
const toEntry = (name: OperationName): string => {
  const { methods, slow }: Operation = operations[name];
  return `${name}${methods[0] === 'GET' ? '?' : ''}${slow ? '!' : ''}`;
};

/** Groups the operations by the folder of their first path, so that the bundle contains each folder and name once. */
const groupByFolder = (): string => {
  const folders = new Map<string, OperationName[]>();
  for (const name of operationNames) {
    const [path] = operations[name].paths;
    if (!path.endsWith(`/${name}`)) throw new Error(`the first path of ${name} must end in its name: ${path}`);
    const folder = path.slice(0, -name.length);
    folders.set(folder, [...(folders.get(folder) ?? []), name]);
  }
  return [...folders].map(([folder, names]) => [folder, ...names.map(toEntry)].join(' ')).join();
};

const table = (): string => `
export const operations = Object.fromEntries(
  "${groupByFolder()}".split(",").flatMap((group) => {
    const [folder, ...entries] = group.split(" ");
    return entries.map((entry) => {
      const name = entry.replace(/\\W/g, "");
      const methods = [entry.includes("?") ? "GET" : "POST"];
      return [name, { methods, paths: [folder + name], slow: entry.includes("!") }];
    });
  }),
);
export const operationNames = Object.keys(operations);`;

export const operationsTable: Plugin = {
  name: 'operations table',
  setup({ onResolve, onLoad }) {
    const namespace = 'operations-table';
    onResolve({ filter: /^@firsthand\/contract\/operations$/ }, () => ({ path: 'operations', namespace }));
    onLoad({ filter: /.*/, namespace }, () => ({ contents: table(), loader: 'js' }));
  },
};
