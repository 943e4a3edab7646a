/**
 * The table of operations as the client reads it in a page: methods, paths, and which are slow or streams. The contract's own table
 * holds the schemas too, which would bring 70 KB of Zod into the page.
 */
import { type Operation, operationNames, operations } from '@firsthand/contract/operations';
import type { Plugin } from 'esbuild';

const lineOf = ({ methods, paths, slow, stream }: Operation) => ({
  methods,
  paths: paths.slice(0, 1),
  ...(slow && { slow }),
  ...(stream && { stream }),
});

const table = (): string => {
  const lines = Object.fromEntries(operationNames.map((name) => [name, lineOf(operations[name])]));
  return `export const operations = ${JSON.stringify(lines)};\nexport const operationNames = Object.keys(operations);`;
};

export const operationsTable: Plugin = {
  name: 'operations table',
  setup({ onResolve, onLoad }) {
    const namespace = 'operations-table';
    onResolve({ filter: /^@firsthand\/contract\/operations$/ }, () => ({ path: 'operations', namespace }));
    onLoad({ filter: /.*/, namespace }, () => ({ contents: table(), loader: 'js' }));
  },
};
