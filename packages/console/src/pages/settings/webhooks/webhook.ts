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
  'contact.unsubscribed': 'A contact unsubscribes',
  'link.voided': 'A visitor’s link to a contact is ignored',
  'link.restored': 'An ignored link is restored',
  'segment.entered': 'A contact enters a segment',
  'segment.left': 'A contact leaves a segment',
  'request.refused': 'Requests were refused, once an hour',
  'quota.near': 'The storage reaches 80 % or 100 % of its quota',
};

export const disabledReasons: Readonly<Record<NonNullable<Webhook['disabledReason']>, string>> = {
  gone: 'The endpoint responded with HTTP 410 (Gone).',
  failing: 'Every attempt failed for three days.',
  token_revoked: 'The token that created it was revoked.',
};

export const nameOfWebhook = ({ description, url }: Pick<Webhook, 'description' | 'url'>): string => description || url;

export const isAudienceType = (type: WebhookType): boolean => type.startsWith('segment.');

export const audienceProblems: Readonly<Record<NonNullable<Webhook['audience'][number]['problem']>, string>> = {
  too_many_contacts: 'has more than 100,000 contacts, so its changes are not sent',
  invalid_segment: 'has a filter that can’t be used; save it again',
  report_too_slow: 'takes too long to compute; use a narrower filter',
  no_reports: 'can’t be computed, because reports are not available',
};

/** Describes what a webhook sends: `An event is logged (Bought, with plan = pro)`. */
export const describeTypes = ({ type, eventName, attrID, attrValue, segmentName }: Webhook): string[] =>
  type.map((each) => {
    const attribute = attrID && `with ${attrID}${attrValue && ` = ${attrValue}`}`;
    const ofEvents = each === 'event.logged' ? [...eventName, attribute].filter(Boolean) : [];
    const conditions = isAudienceType(each) ? segmentName : ofEvents;
    return typeLabels[each] + (conditions.length > 0 ? ` (${conditions.join(', ')})` : '');
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
