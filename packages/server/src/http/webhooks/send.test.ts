import type { LookupAddress, lookup } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createSender, type Sender } from './send.ts';

const opened: (Server | Sender)[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) {
    each.close();
    if ('closeAllConnections' in each) each.closeAllConnections();
  }
});

const listen = async (respond: RequestListener) => {
  let connections = 0;
  const server = createServer(respond).on('connection', () => (connections += 1));
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, port, connections: () => connections };
};

const open = (options: Parameters<typeof createSender>[0] = {}) => {
  const sender = createSender(options);
  opened.push(sender);
  return sender;
};
const message = { headers: { 'webhook-id': 'msg_1' }, body: '{"data":"ö"}' };

/** Responds with a status, and records requests. */
const answering = (status: number, headers: Record<string, string> = {}, text = '') => {
  const requests: { method: string | undefined; headers: unknown; body: string }[] = [];
  const respond: RequestListener = async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push({ method: request.method, headers: request.headers, body });
    response.writeHead(status, headers).end(text);
  };
  return { requests, respond };
};

/** A name server that returns the next list of addresses for each query. */
const resolveTo = (...answers: string[][]) => {
  const questions: string[] = [];
  const resolve = ((hostname: string, _: unknown, callback: (error: null, list: LookupAddress[]) => void) => {
    questions.push(hostname);
    const addresses = answers.length > 1 ? (answers.shift() as string[]) : (answers[0] as string[]);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  }) as unknown as typeof lookup;
  return { lookup: resolve, questions };
};

const allow = ['127.0.0.0/8'];

describe('a sender', () => {
  it('posts a message, and returns the status and the start of the response', async () => {
    const { requests, respond } = answering(200, {}, 'thanks');
    const { url } = await listen(respond);
    const sent = await open({ allow }).send({ url, ...message });
    expect(sent).toMatchObject({ succeeded: true, httpStatus: 200, error: '', response: 'thanks' });
    const headers = { 'content-type': 'application/json', 'webhook-id': 'msg_1' };
    expect(requests).toEqual([{ method: 'POST', body: message.body, headers: expect.objectContaining(headers) }]);
  });

  it('treats every status except 2xx as a failure, and follows no redirect', async () => {
    const target = answering(200);
    const { url: location, connections } = await listen(target.respond);
    const outcomes: unknown[] = [];
    for (const status of [204, 301, 302, 307, 308, 304, 400, 410, 500]) {
      const { url } = await listen(answering(status, { Location: location }).respond);
      const { succeeded, httpStatus, error } = await open({ allow }).send({ url, ...message });
      outcomes.push([succeeded, httpStatus, error]);
    }
    const redirect = (status: number) => [false, status, `HTTP ${status}: redirects are not followed`];
    expect(outcomes).toEqual([
      [true, 204, ''],
      ...[301, 302, 307, 308, 304].map(redirect),
      ...[400, 410, 500].map((status) => [false, status, `HTTP ${status}`]),
    ]);
    expect(connections()).toBe(0);
  });

  it('reads Retry-After in seconds', async () => {
    const { url } = await listen(answering(503, { 'Retry-After': '120' }).respond);
    expect(await open({ allow }).send({ url, ...message })).toMatchObject({ httpStatus: 503, retryAfterSeconds: 120 });
  });

  it('reads only the beginning of an endless response, without NUL characters', async () => {
    const { url } = await listen((_, response) => {
      response.writeHead(500);
      response.write('a\0b');
      const timer = setInterval(() => response.write('x'.repeat(100_000)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const { httpStatus, response } = await open({ allow }).send({ url, ...message });
    expect(httpStatus).toBe(500);
    expect(response).toMatch(/^abx{998}$/);
  });

  it('fails after the timeout if there is no response', async () => {
    const { url } = await listen(() => {});
    const outcome = await open({ allow, timeoutMilliseconds: 50 }).send({ url, ...message });
    expect(outcome).toMatchObject({ succeeded: false, httpStatus: null, error: 'no response within 0.05 s' });
  });

  it('keeps the status of a response that does not end before the timeout', async () => {
    const { url } = await listen((_, response) => {
      response.writeHead(200).write('yes');
    });
    const sendWithin = (timeoutMilliseconds: number) => open({ allow, timeoutMilliseconds }).send({ url, ...message });
    let timeoutMilliseconds = 200;
    let outcome = await sendWithin(timeoutMilliseconds);
    // On a busy machine, even the status can take longer.
    while (outcome.response === '') {
      timeoutMilliseconds *= 2;
      outcome = await sendWithin(timeoutMilliseconds);
    }
    expect(outcome).toMatchObject({ succeeded: true, httpStatus: 200, response: 'yes' });
  });

  it('fails if the endpoint closes the connection, or does not listen', async () => {
    const { url } = await listen((request) => request.socket.destroy());
    const sender = open({ allow });
    expect(await sender.send({ url, ...message })).toMatchObject({ httpStatus: null, error: 'socket hang up' });
    const refused = await sender.send({ url: 'http://127.0.0.1:1/', ...message });
    expect(refused.error).toContain('ECONNREFUSED');
  });

  it('fails if the endpoint switches protocols', async () => {
    const { url } = await listen(({ socket }) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n');
    });
    const outcome = await open({ allow }).send({ url, ...message });
    expect(outcome).toMatchObject({ succeeded: false, httpStatus: null });
    expect(outcome.error).not.toBe('');
  });

  it('ends an attempt whose signal is aborted', async () => {
    const { url } = await listen(() => {});
    const outcome = await open({ allow }).send({ url, ...message, signal: AbortSignal.timeout(20) });
    expect(outcome.succeeded).toBe(false);
  });
});

const hostileHosts = [
  ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.1.', '0.0.0.0', '0', '10.0.0.1'],
  ...[
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '169.254.170.2',
    '100.64.0.1',
  ],
  ...['100.100.100.200', '100.127.255.255', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.19.255.255', '198.51.100.1'],
  ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16', '192.88.99.1'],
  ...['[::]', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:8.8.8.8]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[fe80::1]'],
  ...['[fc00::1]', '[fd00:ec2::254]', '[fdff::1]', '[ff02::1]', '[64:ff9b::7f00:1]', '[64:ff9b::a9fe:a9fe]'],
  ...['[64:ff9b:1::1]', '[2001::1]', '[2001:10::1]', '[2001:20::1]', '[2001:db8::1]', '[2002:7f00:1::]', '[3fff::1]'],
  ...['[100::1]', '[fec0::1]', '[5f00::1]', '[::ffff:0:127.0.0.1]', '①②⑦.0.0.1', '%31%32%37.0.0.1'],
];

describe('a sender without configured networks', () => {
  it.each(hostileHosts)('refuses the address %s', async (host) => {
    const { lookup: resolve, questions } = resolveTo(['127.0.0.1']);
    const sender = open({ lookup: resolve });
    for (const protocol of ['https', 'http']) {
      const url = `${protocol}://${host}/`;
      expect(sender.findProblem(url)).toBeDefined();
      expect(await sender.send({ url, ...message })).toMatchObject({ succeeded: false, httpStatus: null });
    }
    expect(questions).toEqual([]);
  });

  it('refuses a name if any of its addresses is not public', async () => {
    const { respond } = answering(200);
    const { port, connections } = await listen(respond);
    for (const addresses of [['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['93.184.215.14', '127.0.0.1']]) {
      const { lookup: resolve, questions } = resolveTo(addresses);
      const outcome = await open({ lookup: resolve }).send({ url: `https://crm.example:${port}/`, ...message });
      expect(outcome.error).toBe('crm.example has an address that is neither public nor in the setting WEBHOOK_ALLOW');
      expect(questions).toEqual(['crm.example']);
    }
    expect(connections()).toBe(0);
  });

  it('requires TLS', () => {
    const sender = open();
    expect(sender.findProblem('http://crm.example/')).toBe('the URL must begin with https');
    expect(sender.findProblem('http://93.184.215.14/')).toContain('must begin with https');
    expect(sender.findProblem('https://93.184.215.14/')).toBeUndefined();
    expect(sender.findProblem('https://[2606:4700::1111]/')).toBeUndefined();
  });
});

describe('a sender with configured networks', () => {
  it('connects to the address that it checked, even if the name server’s answer changes', async () => {
    const { respond, requests } = answering(200);
    const { port } = await listen(respond);
    const { lookup: resolve, questions } = resolveTo(['127.0.0.1'], ['10.9.9.9']);
    const sender = open({ allow, lookup: resolve });
    const url = `http://crm.example:${port}/`;
    expect(await sender.send({ url, ...message })).toMatchObject({ succeeded: true });
    // Reuses the connection. A new connection resolves the name again, and is refused.
    expect(await sender.send({ url, ...message })).toMatchObject({ succeeded: true });
    expect(questions).toEqual(['crm.example']);
    sender.close();
    const { error } = await sender.send({ url, ...message });
    expect(error).toContain('crm.example has an address that is not in the setting WEBHOOK_ALLOW');
    expect(requests).toHaveLength(2);
  });

  it('sends without TLS only to these networks', async () => {
    const { lookup: resolve } = resolveTo(['93.184.215.14']);
    const { error } = await open({ allow, lookup: resolve }).send({ url: 'http://crm.example/', ...message });
    expect(error).toContain('so the URL must begin with https');
  });

  it('reports a host without an address', async () => {
    const { error } = await open({ allow, lookup: resolveTo([]).lookup }).send({
      url: 'https://crm.example/',
      ...message,
    });
    expect(error).toBe('crm.example has no address');
  });
});
