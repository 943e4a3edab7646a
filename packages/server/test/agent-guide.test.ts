/** Follows docs/ask-an-agent.md: creates the token, connects with the configuration shown, and runs its request. */
import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { tools } from '../src/http/mcp/tools.ts';
import { readBlocks, runBlock } from './fixtures/documents/guides.ts';
import { createFakeReports } from './fixtures/reports/fake-reports.ts';
import { createAccount, serveHere } from './fixtures/serving.ts';

const guide = 'ask-an-agent.md';
const [creation, claude, configuration, request] = readBlocks(guide);
const text = readFileSync(new URL(`../../docs/${guide}`, import.meta.url), 'utf8');

const kinds = ['agent', 'viewer', 'editor', 'server'] as const;
let url: string;
let tokens: Record<string, string>;
beforeAll(async () => {
  const cleanups: (() => unknown)[] = [];
  const reports = createFakeReports();
  ({ url } = await serveHere({}, { reports }, (cleanup) => cleanups.push(cleanup)));
  const { serverTokenUUID } = await createAccount(url);
  tokens = { server: serverTokenUUID };
  for (const tokenKind of ['agent', 'viewer', 'editor']) {
    const code = creation?.code.replace('"agent"', JSON.stringify(tokenKind)) ?? '';
    const env = { FIRSTHAND_URL: url, SERVER_TOKEN: serverTokenUUID };
    tokens[tokenKind] = JSON.parse(await runBlock({ language: 'sh', code }, env)).tokenUUID;
  }
  return async () => {
    for (const cleanup of cleanups) await cleanup();
  };
});

const connect = async (address: string, headers: Record<string, string>) => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
};

/** The tools in the guide's table, and for each column whether it says yes. */
const rows = [...text.matchAll(/^\| `(\w+)` \|[^|]*\|(.*)\|$/gm)].map(
  ([, name = '', cells = '']) => [name, cells.split('|').map((cell) => cell.trim() === 'yes')] as const,
);

describe('the guide', () => {
  test('creates a token of kind agent', () => {
    expect(tokens.agent).toMatch(/^agent_[\w-]{24}$/);
  });

  test.each(kinds)('lists the tools for a token of kind %s', async (kind) => {
    const client = await connect(`${url}/mcp`, { Authorization: `Bearer ${tokens[kind]}` });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    const shown = rows.filter(([, allowed]) => allowed[kinds.indexOf(kind)]).map(([name]) => name);
    expect(names.sort()).toEqual(shown.sort());
    expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(tools).sort());
  });

  test('shows the client configuration', async () => {
    const { type, url: shownURL, headers } = JSON.parse(configuration?.code ?? '').mcpServers.firsthand;
    expect([type, new URL(shownURL).pathname]).toEqual(['http', '/mcp']);
    const sent = { Authorization: headers.Authorization.replace('agent_…', tokens.agent) };
    expect((await connect(`${url}/mcp`, sent)).getServerVersion()?.name).toBe('firsthand');
    expect(claude?.code).toContain('--transport http firsthand "$FIRSTHAND_URL/mcp" --header "Authorization: Bearer');
  });

  test('shows a request that an agent sends', async () => {
    const env = { FIRSTHAND_URL: url, AGENT_TOKEN: tokens.agent as string };
    const output = await runBlock(request as { language: string; code: string }, env);
    const { result } = JSON.parse(/^data: (.*)$/m.exec(output)?.[1] ?? '');
    expect(JSON.parse(result.content[1].text)).toMatchObject({
      range: { from: '2026-11-01T00:00:00.000Z' },
      console: `${url}/console/events?${new URLSearchParams({
        by: 'entryReferrerHost',
        filter: '[{"event":"Signed up"}]',
        from: '2026-11-01',
        to: new Date().toISOString().slice(0, 10),
      })}`,
      data: { row: [], earlier: { row: [] } },
    });
  });
});
