/**
 * A process that requests reports in a loop. Arguments: the port, and the start of the range in milliseconds since
 * 1970.
 */
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
let completed = 0;

/** Resolves to the response's status. */
const requestReport = (path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: `/report/${path}`, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode = 0 } = response;
        if (statusCode === 200 || statusCode === 503) return resolve(statusCode);
        reject(new Error(`${path} responded with ${statusCode}: ${Buffer.concat(chunks)}`));
      });
    });
    request.on('error', reject);
  });

const requestForever = async (): Promise<void> => {
  for (let nth = 0; ; nth += 1) {
    const status = await requestReport(paths[nth % paths.length] as string);
    if (status === 200) completed += 1;
    // The report files are not built yet.
    else await wait(retryMilliseconds);
  }
};

process.on('message', () => process.send?.(completed));
process.on('disconnect', () => process.exit());
void requestForever();
