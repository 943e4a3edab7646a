/**
 * Serves the Model Context Protocol (Streamable HTTP, stateless): agents call tools with one of the account's tokens.
 * Requests from web pages are refused, which also prevents DNS rebinding.
 */
import { statusOf } from '@firsthand/contract/errors';
import { limits } from '@firsthand/contract/limits';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { Refusal } from '../../shared/refusal.ts';
import type { AuthenticateCaller } from '../access/authenticate-caller.ts';
import { namedToken } from '../access/authentication.ts';
import type { Admit } from '../request/admission.ts';
import { readInput } from '../request/input.ts';
import type { BudgetOf } from '../request/parsing-budget.ts';
import { headersOf, refusalResponse } from '../responses/responses.ts';
import type { Route } from '../routes.ts';
import type { AgentRequest, ProtocolDependencies } from './protocol.ts';

const noToken = 'the request has no token: send the header `Authorization: Bearer <token>`';
const tokens = ['agent', 'viewer', 'editor', 'server'] as const;

interface Dependencies extends ProtocolDependencies {
  readonly admit: Admit;
  readonly budgetOf: BudgetOf;
  readonly authenticateCaller: AuthenticateCaller;
  /** The console's origin; by default, the origin of the request. */
  readonly consoleOrigin: string | undefined;
  /** The path prefix of the service, without a trailing slash. */
  readonly base: string;
  readonly now: () => number;
}

export const createMcpRoute = (dependencies: Dependencies): Route => {
  const { admit, budgetOf, authenticateCaller, consoleOrigin, base, now } = dependencies;
  let handler: McpHttpHandler | undefined;

  return {
    name: 'mcp',
    methods: ['POST'],
    refuse: (exchange, refusal, more) =>
      refusalResponse(exchange, refusal, {
        ...more,
        ...(statusOf(refusal.code) === 401 && { 'WWW-Authenticate': 'Bearer' }),
      }),
    handle: (c, exchange) =>
      admit(c, async (source) => {
        const { url, headers, signal } = c.req.raw;
        const time = now();
        const message = await readInput(c.req.raw, limits.bodyBytes, source, budgetOf(c));
        // A console session is not accepted: its cookie is for the console's own pages.
        if (namedToken({}, headers) === undefined) throw new Refusal('missing_token', { message: noToken });
        const caller = await authenticateCaller('/mcp', { tokens }, {}, c, time);
        // Loaded on the first request, because loading takes 0.3 s.
        const { createProtocol } = await import('./protocol.ts');
        handler ??= createProtocol(dependencies);
        const root = (consoleOrigin ?? new URL(url).origin) + base;
        const extra = { caller, headers, exchange, root } satisfies AgentRequest;
        const response = await handler.fetch(new Request(url, { method: 'POST', headers, signal }), {
          parsedBody: message,
          authInfo: { token: '', clientId: '', scopes: [], extra },
        });
        for (const [name, value] of Object.entries(headersOf(exchange))) response.headers.set(name, value);
        return response;
      }),
  };
};
