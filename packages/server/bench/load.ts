/** A process that sends events as fast as they are answered: raw sockets, since an HTTP client costs more than the server. */
import { connect } from 'node:net';

export interface Load {
  readonly port: number;
  readonly token: string;
  readonly connections: number;
  readonly milliseconds: number;
  readonly eventsPerRequest: number;
}

export interface LoadResult {
  readonly eventsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Answers that were not 200. */
  readonly refused: number;
}

let sent = 0;
const started = Date.now().toString(36);

/** An event with three attributes and a time-ordered eventUUID, by one of 10,000 users, as the tracker makes it. */
const eventText = (): string => {
  sent += 1;
  const user = `user_${String((sent * 7919) % 10_000).padStart(16, '0')}`;
  return `{"eventID":${(sent % 20) + 1},"eventUUID":"${started}${sent.toString(36).padStart(8, '0')}","userUUID":"${user}","eventAttrArray":[{"attrID":"path","attrValue":"/products/${sent % 500}"},{"attrID":"price","attrValue":"${sent % 90}.90"},{"attrID":"campaign","attrValue":"autumn"}]}`;
};

const requestText = ({ token, eventsPerRequest }: Load): string => {
  const single = eventsPerRequest === 1;
  const body = single
    ? `{"tokenUUID":"${token}",${eventText().slice(1)}`
    : `{"tokenUUID":"${token}","event":[${Array.from({ length: eventsPerRequest }, eventText).join(',')}]}`;
  const path = single ? '/event/logEvent' : '/event/logEvents';
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

const runConnection = (load: Load, until: number, latencies: number[]) =>
  new Promise<{ kept: number; refused: number }>((resolve, reject) => {
    const socket = connect(load.port, '127.0.0.1');
    let kept = 0;
    let refused = 0;
    let startedAt = 0;
    let received = '';
    const send = () => {
      if (Date.now() >= until) {
        socket.destroy();
        resolve({ kept, refused });
        return;
      }
      startedAt = performance.now();
      socket.write(requestText(load));
    };
    socket.setNoDelay(true);
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = /content-length: (\d+)/i.exec(received)?.[1];
      const complete =
        length === undefined ? received.endsWith('0\r\n\r\n') : received.length >= headEnd + 4 + Number(length);
      if (!complete) return;
      if (received.startsWith('HTTP/1.1 200')) kept += load.eventsPerRequest;
      else refused += 1;
      latencies.push(performance.now() - startedAt);
      received = '';
      send();
    });
  });

const run = async (load: Load): Promise<LoadResult> => {
  const latencies: number[] = [];
  const start = Date.now();
  const until = start + load.milliseconds;
  const done = await Promise.all(Array.from({ length: load.connections }, () => runConnection(load, until, latencies)));
  const seconds = (Date.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    eventsPerSecond: done.reduce((sum, { kept }) => sum + kept, 0) / seconds,
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    refused: done.reduce((sum, { refused }) => sum + refused, 0),
  };
};

process.on('message', async (load: Load) => process.send?.(await run(load)));
process.on('disconnect', () => process.exit());
