/**
 * The token kinds. `browser` is public; the others are secret. `agent` can only read counts, at `/mcp`; `viewer` can
 * only read; `editor` can also change contacts, catalogues, segments and views, and share reports; `server` has full
 * access to an account; `operator` manages accounts.
 */
export const tokenKinds = ['browser', 'agent', 'viewer', 'editor', 'server', 'operator'] as const;
export type TokenKind = (typeof tokenKinds)[number];

/** The token kinds that belong to an account. */
export const accountTokenKinds = [
  'browser',
  'agent',
  'viewer',
  'editor',
  'server',
] as const satisfies readonly TokenKind[];
