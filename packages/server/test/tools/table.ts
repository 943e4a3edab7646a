/** A reporter for vitest: prints the table of what the tests of faults and of security have found, and with FAULTS=full renews FAULTS.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

const page = new URL('../../FAULTS.md', import.meta.url);

const introduction = `# What the server has survived

Written by \`FAULTS=full npm run test:faults\` and \`test:citus\`. Each row is a test in \`test/faults\`,
\`test/security\` or \`test/citus\`, run with its full count on the day in its row. Without \`FAULTS=full\` the same commands run small
counts and leave this page as it is. Each test is also run against a server that is weakened on purpose, as the last column says, and
passes only when the same check finds fault with that one.
`;
const head = '| fault | day | count | result | with the weakened server |\n|---|---|---|---|---|\n';

const rowsIn = (text: string): string[] =>
  text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| fault |'));
const faultOf = (row: string): string => row.split('|')[1]?.trim() ?? '';

export default class Table implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const day = new Date().toISOString().slice(0, 10);
    const rows = modules
      .flatMap((module) => [...module.children.allTests('passed')])
      .flatMap((test) => test.meta().finding ?? [])
      .map(({ fault, count, result, weakened }) => `| ${fault} | ${day} | ${count} | ${result} | ${weakened} |`);
    if (rows.length === 0) return;
    process.stdout.write(`\n${head}${rows.join('\n')}\n\n`);
    if (process.env.FAULTS !== 'full') return;
    const renewed = new Set(rows.map(faultOf));
    const others = existsSync(page)
      ? rowsIn(readFileSync(page, 'utf8')).filter((row) => !renewed.has(faultOf(row)))
      : [];
    const all = [...rows, ...others].sort((a, b) => (faultOf(a) < faultOf(b) ? -1 : 1));
    writeFileSync(page, `${introduction}\n${head}${all.join('\n')}\n`);
  }
}
