/**
 * Replaces the contract's table of operations in the bundle by one with only the fields that the client reads. The full
 * table has the schemas, which would add 70 KB of Zod to the page.
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
