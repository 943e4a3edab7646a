/** A process that pages through all events in a loop. Arguments: the port and the number of connections. */
import { Agent, get } from 'node:http';
import { serverToken } from '../account.ts';

const [port, readers] = process.argv.slice(2).map(Number) as [number, number];
const headers = { authorization: `Bearer ${serverToken}` };
/** Each connection uses one of these filters: the whole account, an eventID, or an attribute. */
const filters = ['', '&eventID=1', '&eventID=6', '&attrID=campaign&attrValue=autumn'];
let pages = 0;

const getPage = (path: string, agent: Agent): Promise<{ nextCursor: string }> =>
  new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode !== 200) return reject(new Error(`a page responded with ${response.statusCode}`));
        const text = Buffer.concat(chunks).toString();
        const nextCursor = /"nextCursor":"([^"]*)"/.exec(text)?.[1] ?? '';
        resolve({ nextCursor });
      });
    });
    request.on('error', reject);
  });

const readForever = async (filter: string): Promise<void> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let cursor = ''; ; ) {
    const { nextCursor } = await getPage(`/event/getEvent?limit=100${filter}${cursor && `&cursor=${cursor}`}`, agent);
    pages += 1;
    cursor = nextCursor;
  }
};

process.on('message', () => process.send?.(pages));
process.on('disconnect', () => process.exit());
for (let reader = 0; reader < readers; reader += 1) void readForever(filters[reader % filters.length] as string);
