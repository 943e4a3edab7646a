/** A process that asks for reports, one after the other, over and over. Arguments: a port and where the range begins, in milliseconds. */
import { get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { serverToken } from '../account.ts';

const [port, from] = process.argv.slice(2).map(Number) as [number, number];
const headers = { authorization: `Bearer ${serverToken}` };
const month = `from=${new Date(from).toISOString()}`;
const step = JSON.stringify([{ event: 1 }, { event: 2 }, { event: 6 }]);
const paths = [
  `reportTotals?${month}&interval=day`,
  `reportBreakdown?${month}&by=attr:campaign`,
  `reportFunnel?${month}&step=${encodeURIComponent(step)}`,
  `reportRetention?${month}`,
  `reportPeople?${month}`,
  'reportLive',
];
const retryMilliseconds = 500;
let answered = 0;

/** Resolves to the status of the response. */
const ask = (path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = get({ host: '127.0.0.1', port, path: `/report/${path}`, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const { statusCode = 0 } = answer;
        if (statusCode === 200 || statusCode === 503) return resolve(statusCode);
        reject(new Error(`${path} was answered ${statusCode}: ${Buffer.concat(chunks)}`));
      });
    });
    asked.on('error', reject);
  });

const askOn = async (): Promise<void> => {
  for (let nth = 0; ; nth += 1) {
    const status = await ask(paths[nth % paths.length] as string);
    if (status === 200) answered += 1;
    // The files are not built yet.
    else await wait(retryMilliseconds);
  }
};

process.on('message', () => process.send?.(answered));
process.on('disconnect', () => process.exit());
void askOn();
