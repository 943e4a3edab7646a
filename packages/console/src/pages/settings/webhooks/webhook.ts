/** Webhooks and their messages as the API returns them, and the page's words for them. */
import type { ResponseFor } from '@firsthand/client';

export type Webhook = ResponseFor<'listWebhooks'>['webhook'][number];
export type WebhookType = Webhook['type'][number];
export type Delivery = ResponseFor<'listWebhookDeliveries'>['delivery'][number];

export const typeLabels: Readonly<Record<WebhookType, string>> = {
  'event.logged': 'An event is logged',
  'contact.created': 'A contact is created',
  'contact.updated': 'A contact’s details change',
  'contact.recognized': 'A visitor is recognized as a contact',
  'contact.merged': 'Two contacts are merged',
  'contact.unmerged': 'A merge of two contacts is undone',
  'contact.erased': 'A contact is erased',
  'link.voided': 'A visitor’s link to a contact is ignored',
  'link.restored': 'An ignored link is restored',
};

export const disabledReasons: Readonly<Record<NonNullable<Webhook['disabledReason']>, string>> = {
  gone: 'The endpoint responded with HTTP 410 (Gone).',
  failing: 'Every attempt failed for three days.',
  token_revoked: 'The token that created it was revoked.',
};

export const nameOfWebhook = ({ description, url }: Pick<Webhook, 'description' | 'url'>): string => description || url;

/** Describes what a webhook sends: `An event is logged (Bought, with plan = pro)`. */
export const describeTypes = ({ type, eventName, attrID, attrValue }: Webhook): string[] =>
  type.map((each) => {
    const conditions = [...eventName, attrID && `with ${attrID}${attrValue && ` = ${attrValue}`}`].filter(Boolean);
    return typeLabels[each] + (each === 'event.logged' && conditions.length > 0 ? ` (${conditions.join(', ')})` : '');
  });

const maxQuoted = 200;
/** The beginning of a response. */
export const quote = (text: string): string => (text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text);

/** Joins consecutive sequences, which are ascending, so that one request can resend each run. */
export const toRuns = (sequences: readonly number[]): { sequence: number; through: number }[] => {
  const runs: { sequence: number; through: number }[] = [];
  for (const sequence of sequences) {
    const last = runs.at(-1);
    if (last?.through === sequence - 1) last.through = sequence;
    else runs.push({ sequence, through: sequence });
  }
  return runs;
};
