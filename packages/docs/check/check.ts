/** Compiles the client examples of the reference. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operationDocs } from '../build/reference/document.ts';
import { requestTabs } from '../build/reference/operation-page.ts';

const packages = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(packages, 'docs/dist/check');
mkdirSync(folder, { recursive: true });
for (const operation of operationDocs) {
  const { code = '' } = requestTabs(operation).find(({ language }) => language === 'ts') ?? {};
  writeFileSync(join(folder, `${operation.name}.ts`), `declare const token: string;\n${code}\n`);
}
const settings = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: { lib: ['ES2023', 'ES2024.String', 'DOM', 'DOM.AsyncIterable'] },
  include: ['*.ts'],
};
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
try {
  execFileSync(join(packages, '../node_modules/.bin/tsc'), ['-p', folder], { stdio: 'inherit' });
  console.log(`${operationDocs.length} examples compile with the client`);
} catch {
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
