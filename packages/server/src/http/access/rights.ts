/** Checks whether a token may call an operation from this origin. */
import type { Operation } from '@firsthand/contract/operations';
import { isOriginAllowed } from '@firsthand/contract/origins';
import { Refusal } from '../../shared/refusal.ts';
import type { Access } from '../../store/store.ts';

/** Whether an Origin header is from a web page. Browsers send `null` for an opaque origin (RFC 6454 section 7.3). */
const isPage = (origin: string | null) => origin !== null && /^(?:https?:\/\/|null$)/i.test(origin);

const refererOrigin = (referer: string | null): string | undefined =>
  referer !== null && /^https?:/i.test(referer) && URL.canParse(referer) ? new URL(referer).origin : undefined;

/**
 * Returns the origin of the page that sent a request: Origin or, for images, which send none, the origin of Referer.
 */
export const pageOriginOf = (headers: Headers): string | undefined =>
  headers.get('origin') ?? refererOrigin(headers.get('referer'));

/** Throws a Refusal for an origin that the account doesn't allow. A request without an origin passes. */
const checkOrigin = ({ accountOrigin }: Access, headers: Headers) => {
  if (accountOrigin.length === 0) return;
  const origin = pageOriginOf(headers);
  if (origin !== undefined && !isOriginAllowed(accountOrigin, origin)) throw new Refusal('origin_not_allowed');
};

/** Throws a Refusal if a token of this kind is not allowed to call the operation, or not from the request's origin. */
export const checkRight = (
  name: string,
  { tokens }: Pick<Operation, 'tokens'>,
  access: Access,
  headers: Headers,
  isSession = false,
): void => {
  // Sessions are exempt, because they never leave their HttpOnly cookie: the console page has no secret.
  if (!isSession && access.kind !== 'browser' && isPage(headers.get('origin')))
    throw new Refusal('server_token_in_browser');
  if (!tokens.includes(access.kind)) {
    const kinds = new Intl.ListFormat('en', { type: 'disjunction' }).format(tokens);
    const message = `${name} takes a token of kind ${kinds}; this one is of kind ${access.kind}`;
    throw new Refusal('token_kind', { message });
  }
  if (access.kind === 'browser') checkOrigin(access, headers);
};
