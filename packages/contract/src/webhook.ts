/** Webhooks: endpoints that receive events and contact changes. */
import * as z from 'zod';
import * as field from './fields.ts';
import { limits } from './limits.ts';
import { count, isoTime, response, responseText, text } from './response.ts';

export const webhookTypes = [
  'event.logged',
  'contact.created',
  'contact.updated',
  'contact.recognized',
  'contact.merged',
  'contact.unmerged',
  'contact.erased',
  'contact.unsubscribed',
  'link.voided',
  'link.restored',
  'segment.entered',
  'segment.left',
  'request.refused',
  'quota.near',
] as const;
export type WebhookType = (typeof webhookTypes)[number];
export const audienceTypes = ['segment.entered', 'segment.left'] as const satisfies readonly WebhookType[];
const isAudienceType = (type: string): boolean => (audienceTypes as readonly string[]).includes(type);
export const audienceProblems = ['too_many_contacts', 'invalid_segment', 'report_too_slow', 'no_reports'] as const;
export type AudienceProblem = (typeof audienceProblems)[number];
export const webhookStates = ['active', 'paused', 'disabled'] as const;

const urlForm = `must be an https URL of at most ${limits.webhookURLLength} characters, without a user name, password or fragment`;
const isURL = (value: string): boolean => {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, hash } = new URL(value);
  return ['https:', 'http:'].includes(protocol) && username === '' && password === '' && hash === '';
};
const url = field.describe(
  field.filledText(limits.webhookURLLength).refine(isURL, urlForm).meta({ form: urlForm }),
  'Where messages are sent. Redirects are not followed. `http` is allowed only for networks in the setting WEBHOOK_ALLOW.',
  'https://crm.example/hooks/firsthand',
);
const description = field.describe(field.nameInLine, 'A human-readable description.', 'Sales CRM');
const type = field.describe(
  field
    .list(field.oneOf(webhookTypes), webhookTypes.length)
    .refine((list) => list.length > 0, 'must contain at least one type'),
  'The message types to send.',
  ['contact.recognized', 'contact.merged'],
);
const eventName = field.describe(
  field.list(field.eventName, limits.eventNamesPerWebhook),
  'The names of the events to send as `event.logged`. An empty list: all events.',
  ['Bought'],
);
const { attrID, attrValue } = field.attributeFilter('events');
const segmentName = field.describe(
  field.list(field.segmentName, limits.audiencesPerAccount),
  'The segments whose new and former members are sent as `segment.entered` and `segment.left`.',
  ['Teapot buyers'],
);
interface AudienceFields {
  readonly type?: readonly string[] | undefined;
  readonly segmentName?: readonly string[] | null | undefined;
}
/** Whether the fields name a segment if a type requires one. */
export const hasAudience = ({ type = [], segmentName: names }: AudienceFields): boolean =>
  !type.some(isAudienceType) || Boolean(names?.length);
export const audienceProblem = {
  path: ['segmentName'],
  message: 'is required with `segment.entered` and `segment.left`',
};
const payload = field.describe(
  field.oneOf(['thin', 'full']),
  'Whether messages contain only IDs (`thin`, the default) or also the event or contact (`full`).',
  'thin',
);

const webhookID = responseText(field.webhookID);
const secret = text('The signing secret. Only this response contains it.', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');

export const createWebhookInput = z
  .object({
    url,
    description: field.optional(description),
    type,
    eventName: field.optional(eventName),
    attrID,
    attrValue,
    segmentName: field.optional(segmentName),
    payload: field.optional(payload),
  })
  .refine(field.isAttributePair, field.attributePairProblem)
  .refine(hasAudience, audienceProblem);
export const createWebhookOutput = response({ webhookID, secret });

export const listWebhooksInput = z.object({});
export const listWebhooksOutput = response({
  webhook: z
    .array(
      z.object({
        webhookID,
        url: responseText(url),
        description: responseText(description),
        type: field.describe(z.array(z.enum(webhookTypes)), 'The message types that are sent.', ['contact.recognized']),
        eventName: field.describe(z.array(z.string()), 'The names of the events that are sent. Empty: all.', [
          'Bought',
        ]),
        attrID: text('Only events with this attribute are sent; "": all.', 'product'),
        attrValue: text('Only events in which the attribute has this value are sent; "": all.', 'Stone teapot'),
        segmentName: field.describe(z.array(z.string()), 'The segments whose changes are sent.', ['Teapot buyers']),
        audience: z
          .array(
            z.object({
              segmentName: responseText(field.segmentName),
              contacts: count('The number of contacts in the segment when it was last compared.', 218),
              comparedTime: isoTime(
                'When the contacts in the segment were last compared with those that were sent. Absent until then.',
              ).optional(),
              problem: field
                .describe(
                  z.enum(audienceProblems),
                  `Why the last comparison failed: the segment has more than ${limits.contactsPerAudience.toLocaleString('en')} contacts (\`too_many_contacts\`), its filter is no longer valid (\`invalid_segment\`), or its report was too slow or unavailable. It is repeated every few minutes.`,
                  'too_many_contacts',
                )
                .optional(),
            }),
          )
          .describe('The segments that are compared, sorted by name.'),
        payload: field.describe(z.enum(['thin', 'full']), 'Whether messages contain only IDs.', 'thin'),
        state: field.describe(
          z.enum(webhookStates),
          'Whether the webhook sends messages. The service disables a webhook whose endpoint is gone or keeps failing.',
          'active',
        ),
        disabledReason: field
          .describe(
            z.enum(['gone', 'failing', 'token_revoked']),
            'Why the webhook is disabled: it responded with 410 (`gone`), all attempts of a delivery failed and no other succeeded (`failing`), or the token that created it was revoked (`token_revoked`; the end of a console session does not disable webhooks).',
            'failing',
          )
          .optional(),
        sequence: count('All messages up to this sequence number have been delivered or have failed.', 1_042),
        retrying: count('How many failed deliveries will be retried.', 0),
        waitUntilTime: isoTime('When sending resumes after failures. Absent while nothing is delayed.').optional(),
        lastSuccessTime: isoTime('When a delivery last succeeded. Absent if none has.').optional(),
        lastFailureTime: isoTime('When a delivery last failed. Absent if none has.').optional(),
        lastFailure: text('A description of the last failure; "" if there was none.', 'HTTP 503'),
        skipped: z
          .object({
            events: count(
              'The number of events of the account, whether the webhook’s filter matches them or not.',
              120,
            ),
            fromSequence: count('The first of them.', 1_043),
            throughSequence: count('The last of them.', 1_162),
          })
          .describe(
            'Events that the retention period (RETENTION_DAYS) deleted before the webhook could send them. Absent if there are none.',
          )
          .optional(),
        previousSecretUntilTime: isoTime('After a rotation: until when the previous secret is valid.').optional(),
        createdTime: isoTime('When the webhook was created.'),
        updatedTime: isoTime('When the webhook was last changed.'),
      }),
    )
    .describe('The webhooks, oldest first.'),
});

export const updateWebhookInput = z.object({
  webhookID: field.webhookID,
  url: field.optional(url),
  description: field.clearable(description),
  type: field.optional(type),
  eventName: field.clearable(eventName),
  attrID: field.describe(field.clearable(field.attrID), 'Only events with this attribute; null: all events.'),
  attrValue: field.describe(
    field.clearable(field.text(limits.attrValueLength)),
    'With `attrID`: only events in which the attribute has this value; null: any value.',
    'Stone teapot',
  ),
  segmentName: field.clearable(segmentName),
  payload: field.optional(payload),
  state: field.describe(
    field.optional(field.oneOf(['active', 'paused'])),
    'Pauses or resumes the webhook. A resumed webhook continues where it stopped.',
    'paused',
  ),
});
export const updateWebhookOutput = response({ webhookID });

export const rotateWebhookSecretInput = z.object({ webhookID: field.webhookID });
export const rotateWebhookSecretOutput = response({
  secret,
  previousSecretUntilTime: isoTime('Until when messages are also signed with the previous secret.'),
});

export const deleteWebhookInput = z.object({ webhookID: field.webhookID });
export const deleteWebhookOutput = response({ webhookID });

const attempt = {
  httpStatus: count('The last response’s status. Absent if there was none.', 503).optional(),
  error: text('Why there was no response, or why it counts as a failure; "": neither.', 'the endpoint timed out'),
  responseText: text('The beginning of the last error response.', 'Service Unavailable'),
};

export const testWebhookInput = z.object({ webhookID: field.webhookID });
export const testWebhookOutput = response({
  delivered: field.describe(z.boolean(), 'Whether the endpoint accepted the message.', true),
  ...attempt,
});

const sequence = field.integer(0, Number.MAX_SAFE_INTEGER);

export const listWebhookDeliveriesInput = z.object({
  webhookID: field.webhookID,
  after: field.describe(
    field.optional(sequence),
    'Only messages after this sequence. By default, messages that have not been sent yet.',
    1_000,
  ),
  failed: field.describe(
    field.optional(field.flag),
    'Only messages that failed and have not been delivered since. By default, with any sequence number.',
    false,
  ),
  limit: field.optional(field.pageLimit(limits.deliveriesPerPage)),
});
export const listWebhookDeliveriesOutput = response({
  delivery: z
    .array(
      z.object({
        messageID: text('The message’s `webhook-id` header.', 'msg_2KWPBgLlAfxdpx2AI54pPJ'),
        sequence: count('The message’s position in the account’s sequence.', 1_041),
        type: field.describe(z.enum(webhookTypes), 'The message’s type.', 'contact.recognized'),
        state: field.describe(
          z.enum(['waiting', 'delivered', 'retrying', 'failed']),
          'Whether the message has not been sent yet, was delivered, will be retried, or failed every attempt.',
          'delivered',
        ),
        attempts: count('How many attempts failed.', 0),
        ...attempt,
        lastAttemptTime: isoTime('When the last failed attempt ended.').optional(),
        nextAttemptTime: isoTime('When the next attempt is due.').optional(),
        payload: field.describe(z.record(z.string(), z.unknown()), 'The message’s current body.', {
          type: 'contact.recognized',
          timestamp: '2026-11-01T09:30:00.000Z',
          sequence: 1_041,
          data: {
            contactUUID: 'V1StGXR8_Z5jdHi6B-myT',
            userUUID: 'visitor-of-the-readme',
            linkID: '1041',
            verified: true,
          },
        }),
      }),
    )
    .describe(
      'The messages since the webhook was created, ascending by sequence. Messages about erased contacts are not listed.',
    ),
  nextSequence: count('Pass it as `after` to read the following messages.', 1_041),
  more: field.describe(z.boolean(), 'Whether more messages follow now.', false),
});

export const resendWebhookInput = z
  .object({
    webhookID: field.webhookID,
    sequence: field.describe(
      sequence,
      `The message, or the first message of the range. Refused if more than ${limits.retriesPerWebhook.toLocaleString('en')} messages of the webhook would wait to be sent again.`,
      1_041,
    ),
    through: field.describe(field.optional(sequence), 'The end of the range; by default, only one message.', 1_100),
  })
  .refine(({ sequence: from, through = from }) => through >= from, {
    path: ['through'],
    message: 'must not be less than `sequence`',
  });
export const resendWebhookOutput = response({
  messages: count('How many messages will be sent again.', 60),
  through: count(
    `The end of the range that was processed. If it is less than the requested end, continue after it: a request resends at most ${limits.deliveriesPerResend} messages.`,
    1_100,
  ),
});
