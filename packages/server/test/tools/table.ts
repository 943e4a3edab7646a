/** A Vitest reporter that prints the table of fault and security tests. With FAULTS=full, it also updates FAULTS.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

const page = new URL('../../FAULTS.md', import.meta.url);

const introduction = `# What the server has survived

\`FAULTS=full npm run test:faults\` and \`test:citus\` write this page. Each row is a test in \`test/faults\`,
\`test/security\` or \`test/citus\`, run with its full count on the day in its row. Without \`FAULTS=full\`, the same commands
run small counts and don't change this page. Each test also runs against a server that is weakened on purpose, described
in the last column, and passes only if the same check fails there.

"Lost" counts acknowledged events that are missing, and "twice" counts events that are stored more than once. Numbers
such as 503 are HTTP statuses.
`;
const head = '| fault | day | count | result | with the weakened server |\n|---|---|---|---|---|\n';

const parseRows = (text: string): string[] =>
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
      ? parseRows(readFileSync(page, 'utf8')).filter((row) => !renewed.has(faultOf(row)))
      : [];
    const all = [...rows, ...others].sort((a, b) => (faultOf(a) < faultOf(b) ? -1 : 1));
    writeFileSync(page, `${introduction}\n${head}${all.join('\n')}\n`);
  }
}
