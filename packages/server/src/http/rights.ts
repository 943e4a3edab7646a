import type { Operation } from '@firsthand/contract/operations';
import { originAllowed } from '@firsthand/contract/origins';
import { Refusal } from '../refusal.ts';
import type { Access } from '../store/store.ts';

interface RequestHeaders {
  get(name: string): string | null;
}

/** The Origin of a web page; browsers write `null` for pages that have none to show (RFC 6454 section 7.3). */
const isPage = (origin: string | null) => origin !== null && /^(?:https?:\/\/|null$)/i.test(origin);

const refererOrigin = (referer: string | null): string | undefined =>
  referer !== null && /^https?:/i.test(referer) && URL.canParse(referer) ? new URL(referer).origin : undefined;

/** An image's request carries no Origin, so its Referer counts; with neither of them there is nothing to refuse. */
const checkOrigin = ({ accountOrigin }: Access, headers: RequestHeaders) => {
  if (accountOrigin.length === 0) return;
  const origin = headers.get('origin') ?? refererOrigin(headers.get('referer'));
  if (origin !== undefined && !originAllowed(accountOrigin, origin)) throw new Refusal('origin_not_allowed');
};

/** Refuses what this token may not do, or not from there. */
export const checkRight = (name: string, { tokens }: Operation, access: Access, headers: RequestHeaders): void => {
  if (access.kind !== 'browser' && isPage(headers.get('origin'))) throw new Refusal('server_token_in_browser');
  if (!tokens.includes(access.kind)) {
    const taken = tokens.join(' or ');
    throw new Refusal('token_kind', { message: `${name} takes a ${taken} token; this one is a ${access.kind} token` });
  }
  if (access.kind === 'browser') checkOrigin(access, headers);
};
