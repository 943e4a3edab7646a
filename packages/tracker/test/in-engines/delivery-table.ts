/** A vitest reporter: prints the tallies of the delivery tests as a table, when all have been run. */
import type { Reporter, TestModule } from 'vitest/node';

const columns = [
  'engine',
  'case',
  'times',
  'stored once',
  'lost',
  'twice',
  'out of order',
  'late',
  'seconds',
  'result',
];
const toLine = (cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`;

export default class DeliveryTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]) {
    const rows = modules.flatMap((module) =>
      [...module.children.allTests()].flatMap((test) => {
        const { delivery } = test.meta();
        const suite = test.parent.type === 'suite' ? test.parent.name : '';
        if (!suite.startsWith('delivery')) return [];
        const engine = suite.split(' in ').at(-1);
        const { times = '', storedOnce = 0, lost = 0, twice = 0, outOfOrder = '', late = '' } = delivery ?? {};
        const once = delivery ? `${storedOnce} of ${storedOnce + lost + twice}` : '';
        const seconds = ((test.diagnostic()?.duration ?? 0) / 1e3).toFixed(1);
        return [[engine, test.name, times, once, lost, twice, outOfOrder, late, seconds, test.result().state]];
      }),
    );
    if (rows.length > 0) console.log([columns, columns.map(() => '---'), ...rows].map(toLine).join('\n'));
  }
}
