/**
 * The kinds of token: `browser` is public; `viewer` (only reads), `editor` (also changes contacts, catalogues, segments and views, and shares reports) and `server`
 * are secret; `operator` runs the service.
 */
export const tokenKinds = ['browser', 'viewer', 'editor', 'server', 'operator'] as const;
export type TokenKind = (typeof tokenKinds)[number];

/** The kinds of token that belong to an account. */
export const accountTokenKinds = ['browser', 'viewer', 'editor', 'server'] as const satisfies readonly TokenKind[];
