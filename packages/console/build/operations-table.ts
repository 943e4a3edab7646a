/**
 * In the bundle, replaces the contract's table of operations with a table of only the fields that the client reads. The
 * full table also has the schemas, which would add 70 KB of Zod to the page.
 */
import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import type { Plugin } from 'esbuild';

/** The name of an operation is the end of its path, so that each name is in the bundle once. */
const toEntry = (name: OperationName) => {
  const { methods, paths, slow, stream }: Operation = operations[name];
  const [path = ''] = paths;
  if (!path.endsWith(`/${name}`)) throw new Error(`the first path of ${name} must end in its name: ${path}`);
  const flags = { ...(slow && { slow }), ...(stream && { stream }) };
  return [methods[0], path, ...(Object.keys(flags).length > 0 ? [flags] : [])];
};

const table = (): string => `
export const operations = Object.fromEntries(
  ${JSON.stringify(operationNames.map(toEntry))}.map(([method, path, flags]) => [
    path.split("/").pop(),
    { methods: [method], paths: [path], ...flags },
  ]),
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
