/** A vitest reporter that prints the tallies of the delivery tests as a table, after the run. */
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

const columns = [
  'engine',
  'script',
  'case',
  'times',
  'stored once',
  'lost',
  'twice',
  'out of order',
  'late',
  'figure',
  'seconds',
  'result',
];
const toLine = (cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`;

/** Returns the names of the suites around a test, outermost first. */
const listSuiteNames = ({ parent }: TestCase | TestSuite): string[] =>
  parent.type === 'suite' ? [...listSuiteNames(parent), parent.name] : [];

export default class DeliveryTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]) {
    const rows = modules.flatMap((module) =>
      [...module.children.allTests()].flatMap((test) => {
        const { delivery } = test.meta();
        const [suite = '', script = ''] = listSuiteNames(test);
        if (!suite.startsWith('delivery') || test.result().state === 'skipped') return [];
        const engine = suite.split(' in ').at(-1);
        const {
          times = '',
          storedOnce = 0,
          lost = 0,
          twice = 0,
          outOfOrder = '',
          late = '',
          figure = '',
        } = delivery ?? {};
        const once = delivery ? `${storedOnce} of ${storedOnce + lost + twice}` : '';
        const seconds = ((test.diagnostic()?.duration ?? 0) / 1e3).toFixed(1);
        return [
          [engine, script, test.name, times, once, lost, twice, outOfOrder, late, figure, seconds, test.result().state],
        ];
      }),
    );
    if (rows.length > 0) console.log([columns, columns.map(() => '---'), ...rows].map(toLine).join('\n'));
  }
}
